"""What went wrong while a module was imported, in one sentence that names the file and the line."""

import traceback
from typing import Final

from crontick.jobs import texts

__all__ = ["where"]

_NOT_THEIRS: Final = ("crontick", "importlib")
_CHARACTERS: Final = 500


def where(error: BaseException) -> str:
    """The error, and the innermost line that is neither crontick's nor Python's import machinery."""
    if isinstance(error, SyntaxError):
        said, place = f"{type(error).__name__}: {error.msg}", (error.filename, error.lineno)
    else:
        said, place = texts.describe(error), _place(error)
    file, line = place
    one_line = " ".join(texts.storable(said, limit=_CHARACTERS).split())
    return one_line if file is None else f"{one_line} ({file}, line {line})"


def _place(error: BaseException) -> tuple[str | None, int | None]:
    place: tuple[str | None, int | None] = None, None
    for frame, line in traceback.walk_tb(error.__traceback__):
        if frame.f_globals.get("__name__", "").partition(".")[0] not in _NOT_THEIRS:
            place = frame.f_code.co_filename, line
    return place
