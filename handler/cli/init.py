"""Files for the user's own project."""

from pathlib import Path
from typing import Annotated, Final

import typer

from crontick.handler.cli.options import Json
from crontick.handler.cli.screen import complain, say, say_json
from crontick.handler.init import SETS, Written, write

_NAMES: Final = ", ".join(SETS)


def init(
    what: Annotated[str, typer.Argument(metavar="[WHAT]", help=f"One of: {_NAMES}.")] = "project",
    *,
    package: Annotated[str | None, typer.Option(metavar="NAME", help="The package that gets background.py.")] = None,
    json: Json = False,
) -> None:
    """Write what a project needs, over nothing that is there: a first kind with its test, or the trigger's workflow."""
    if what not in SETS:
        raise typer.BadParameter(f"there is nothing called {what} to write: choose one of {_NAMES}")
    project = Path.cwd()
    if package is not None and not _is_package(project, package):
        raise typer.BadParameter(f"there is no package {package} below {project}: make its folder, or name another")
    try:
        done = write(SETS[what], project, package)
    except OSError as error:
        name = error.filename or project
        complain(f"{name} cannot be written ({error.strerror}): move it away, or work where you may write")
        raise typer.Exit(1) from None
    if json:
        say_json({"written": done.written, "kept": done.kept, "left_out": done.left_out, "then": done.then})
    else:
        _show(done)


def _is_package(project: Path, name: str) -> bool:
    parts = name.split(".")
    return all(part.isidentifier() for part in parts) and project.joinpath(*parts).is_dir()


def _show(done: Written) -> None:
    for verb, names in (("wrote", done.written), ("kept", done.kept)):
        for name in names:
            say(f"{verb} {name}")
    for name in done.left_out:
        say(f"left out {name}: it tests a file that was there")
    say("next:")
    for command in done.then:
        say(f"    {command}")
