"""A traceback as the author of the code wants it: without the machinery that called the code."""

import traceback
from types import TracebackType
from typing import Final

_MACHINERY: Final = ("__main__", "asyncio", "contextlib", "importlib", "uvicorn.", "crontick.")
_KINDS: Final = "crontick.jobs.kinds."


def told(error: BaseException) -> str:
    """What Python would print, from the first frame on that is somebody's own, or a shipped kind's."""
    return "".join(traceback.format_exception(type(error), error, _own(error.__traceback__)))


def has_own(error: BaseException) -> bool:
    """Whether code of one's own raised it, or stands between: a shipped kind that decides alone says it all."""
    frames = error.__traceback__
    return any(
        not str(frame.f_globals.get("__name__")).startswith(_MACHINERY) for frame, _ in traceback.walk_tb(frames)
    )


def _own(frames: TracebackType | None) -> TracebackType | None:
    while frames is not None and _is_machinery(str(frames.tb_frame.f_globals.get("__name__"))):
        frames = frames.tb_next
    return frames


def _is_machinery(module: str) -> bool:
    return module.startswith(_MACHINERY) and not module.startswith(_KINDS)
