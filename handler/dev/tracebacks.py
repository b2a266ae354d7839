"""A traceback as the author of the code wants it: without the machinery that called the code."""

import traceback
from types import TracebackType
from typing import Final

_MACHINERY: Final = (
    "__main__", "asyncio", "contextlib", "importlib", "uvicorn.", "crontick.handler.", "crontick.jobs.run",
    "crontick.jobs.threads",
)  # fmt: skip


def told(error: BaseException) -> str:
    """What Python would print, from the first frame on that is somebody's own."""
    return "".join(traceback.format_exception(type(error), error, _own(error.__traceback__)))


def _own(frames: TracebackType | None) -> TracebackType | None:
    while frames is not None and str(frames.tb_frame.f_globals.get("__name__")).startswith(_MACHINERY):
        frames = frames.tb_next
    return frames
