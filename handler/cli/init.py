"""Files for the user's own project."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Final

import typer

from crontick.handler.cli.options import Json
from crontick.handler.cli.screen import clean, complain, say, say_json
from crontick.handler.init import Written, found, names, template_set, write

_NAMES: Final = ", ".join(names())


def init(
    what: Annotated[str, typer.Argument(metavar="[WHAT]", help=f"One of: {_NAMES}.")] = "project",
    *,
    package: Annotated[str | None, typer.Option(metavar="NAME", help="The package that gets background.py.")] = None,
    app: Annotated[
        str | None, typer.Option(metavar="NAME", help="What the app is called; else as the project.")
    ] = None,
    url: Annotated[
        str | None, typer.Option(metavar="URL", help="Where the app is, such as https://app.example.")
    ] = None,
    modules: Annotated[
        str | None, typer.Option(metavar="NAMES", help="CRONTICK_MODULES there; else background.py, if there is one.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Write over files that are there.")] = False,
    json: Json = False,
) -> None:
    """Write what a project needs: a first kind with its test, the trigger's workflow, or files to deploy with.

    A file that is there is written over after a question only, or with --yes.
    """
    if what not in names():
        raise typer.BadParameter(f"there is nothing called {what} to write: choose one of {_NAMES}")
    project = Path.cwd()
    if package is not None and not _is_package(project, package):
        raise typer.BadParameter(f"there is no package {package} below {project}: make its folder, or name another")
    templates, guessed = template_set(what), found(project)
    if templates.needs_url and url is None:
        raise typer.BadParameter(f"{what} calls an address: say which with --url https://app.example")
    answers = replace(
        guessed,
        app=app or guessed.app,
        url=url and url.rstrip("/"),
        modules=guessed.modules if modules is None else modules,
    )
    if faults := answers.faults():
        raise typer.BadParameter("; ".join(faults))

    def over(target: str) -> bool:
        return yes or (not json and sys.stdin.isatty() and typer.confirm(f"write over {clean(target)}?"))

    try:
        done = write(templates, project, package, answers=answers, over=over)
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
    for verb, paths in (("wrote", done.written), ("kept", done.kept)):
        for path in paths:
            say(f"{verb} {path}")
    for name in done.left_out:
        say(f"left out {name}: it tests a file that was there")
    say("next:")
    for command in done.then:
        say(f"    {command}")
