"""A deployment's modules, imported; and what went wrong meanwhile, in one sentence that names the file and the line."""

import importlib
import traceback
from typing import Any, Final

from crontick.jobs import texts
from crontick.jobs.deployment import DeploymentError
from crontick.jobs.interrupts import is_ctrl_c

__all__ = ["imported"]

_NOT_THEIRS: Final = ("crontick", "importlib")
_CHARACTERS: Final = 500


def imported(name: str, variable: str) -> Any:
    """The module; ``DeploymentError`` with its file and line for whatever keeps it from being imported."""
    try:
        return importlib.import_module(name)
    except BaseException as error:
        if is_ctrl_c(error):
            raise
        if (
            isinstance(error, ModuleNotFoundError)
            and error.name is not None
            and f"{name}.".startswith(f"{error.name}.")
        ):
            raise DeploymentError(
                f"{variable} names {name}, and Python finds no module {error.name}: is its folder on the path?"
            ) from None
        raise DeploymentError(f"{variable} names {name}, which cannot be imported: {_where(error)}") from None


def _where(error: BaseException) -> str:
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
