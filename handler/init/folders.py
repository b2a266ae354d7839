"""The folders of ``deploy/``, each a set of files that works as it lies there."""

import tomllib
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, Final

from crontick.handler.init.template import Template, TemplateSet

__all__ = ["folder_names", "folder_set"]

_PACKAGE: Final = "crontick.deploy"
_ABOUT: Final = "init.toml"
_EXAMPLE_URL: Final = "https://app.example"


def folder_names() -> list[str]:
    """In the order of the alphabet."""
    return sorted(entry.name for entry in files(_PACKAGE).iterdir() if entry.is_dir() and entry.name != "__pycache__")


def folder_set(name: str) -> TemplateSet:
    """The files of ``deploy/NAME``, which go to the same path in the project.

    The folder's own ``init.toml``, which stays behind, may say: ``at_top``, its files belong at the top of the project;
    ``with``, the other folders that it needs; ``url``, what stands there for the app's address, and ``needs_url``, that
    nobody has that one; ``next``, what to type; ``[[each]]``, what to ``add`` to files and commands, and ``after``
    which text of theirs, for each variable that the project names.
    """
    folder = files(_PACKAGE) / name
    about = _about(folder)
    above = "" if about.get("at_top") else f"deploy/{name}/"
    templates = [Template(f"{name}/{path}", above + path, anchor=_PACKAGE) for path in _paths(folder)]
    each = [(one["after"], one["add"]) for one in about.get("each", ())]
    for other in map(folder_set, about.get("with", ())):
        templates += other.templates
        each += other.each
    then = about.get("next") or [f"ls {above}    # each file says at its top how it is used"]
    url, needs_url = about.get("url", _EXAMPLE_URL), about.get("needs_url", False)
    return TemplateSet(name, tuple(templates), tuple(then), url, needs_url, tuple(each))


def _about(folder: Traversable) -> dict[str, Any]:
    path = folder / _ABOUT
    return tomllib.loads(path.read_text("utf-8")) if path.is_file() else {}


def _paths(folder: Traversable, above: str = "") -> Iterator[str]:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            if entry.name != "__pycache__":
                yield from _paths(entry, f"{above}{entry.name}/")
        elif above or entry.name != _ABOUT:
            yield above + entry.name
