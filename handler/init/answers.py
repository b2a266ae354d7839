"""What the files are filled in with: told, or found in the project."""

import json
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from crontick.handler.init.template import TemplateSet

__all__ = ["Answers", "found"]

_APP: Final = "acme-jobs"
_FOLDER: Final = "/srv/acme"
_SOURCES: Final = "build.py acme "
_MODULES: Final = re.compile(r'(CRONTICK_MODULES\b[^\w"]*"?[^\w"]*(?:value: )?)""')
"""The empty text behind the name: in TOML, YAML, JSON or Python."""


@dataclass(frozen=True, slots=True)
class Answers:
    """``app`` is a name that every platform takes, ``url`` the app's address, ``modules`` the value of the setting.

    ``variables`` are those that ``crontick.toml`` names; ``project`` is where all that is, if it is anywhere yet.
    """

    app: str = _APP
    url: str | None = None
    modules: str = ""
    variables: tuple[str, ...] = ()
    project: Path | None = None

    def fill(self, text: str, templates: TemplateSet) -> str:
        """The text with this app's name, address, modules, variables and folder in place of the example's."""
        for after, add in templates.each:
            added = [add.replace("<NAME>", name).replace("<name>", _dashed(name)) for name in self.variables]
            text = text.replace(after, after + "".join(added))
        if templates.url is not None and self.url is not None:
            text = text.replace(templates.url, self.url)
        if self.project is not None:
            text = text.replace(_SOURCES, f"build.py {_sources(self.project, self.modules)} ")
            if re.fullmatch(r"[\w./-]+", str(self.project)):  # systemd would read other characters in its own way
                text = text.replace(_FOLDER, str(self.project))
        return _MODULES.sub(rf'\1"{self.modules}"', text.replace(_APP, self.app))

    def faults(self) -> list[str]:
        """What would not be text of that kind in every one of the files."""
        said = []
        if not re.fullmatch(r"[a-z]([a-z0-9-]{0,28}[a-z0-9])?", self.app):
            said.append(
                f"{self.app!r} is no name for an app: 1 to 30 of a-z, 0-9 and -, from a letter on, no - at the end"
            )
        if self.url is not None and not re.fullmatch(r"https?://[A-Za-z0-9.-]+(:[0-9]+)?(/[\w./-]*[\w-])?", self.url):
            said.append(f"{self.url!r} is no address of an app: write one such as https://app.example")
        if not re.fullmatch(r"([A-Za-z_][\w.]*(,[A-Za-z_][\w.]*)*)?", self.modules):
            said.append(f"{self.modules!r} names no modules: write them as CRONTICK_MODULES has them, acme.background")
        return said


def found(project: Path) -> Answers:
    """The app by the name of the project or its folder; the module that ``crontick init`` makes, if it is there."""
    names = (_name(project / "pyproject.toml"), _name(project / "package.json"), project.name)
    made = (re.sub(r"[^a-z0-9]+", "-", name.lower()).lstrip("-0123456789")[:30].rstrip("-") for name in names if name)
    return Answers(
        app=next(filter(None, made), _APP),
        modules=_background(project),
        variables=tuple(dict.fromkeys(_variables(_decoded(project / "crontick.toml")))),
        project=project,
    )


def _variables(value: Any, *, named: bool = False) -> Iterator[str]:
    """Every text below a name that ends in ``_env``."""
    match value:
        case dict():
            for name, inner in value.items():
                yield from _variables(inner, named=named or name.endswith("_env"))
        case list():
            for inner in value:
                yield from _variables(inner, named=named)
        case str() if named and re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", value):
            yield value


def _dashed(name: str) -> str:
    return name.lower().replace("_", "-")


def _sources(project: Path, modules: str) -> str:
    """The files and folders, at the top of the project, that have the modules."""
    tops = dict.fromkeys(name.partition(".")[0] for name in modules.split(",") if name)
    return " ".join(f"{top}.py" if (project / f"{top}.py").is_file() else top for top in tops) or "acme"


def _background(project: Path) -> str:
    """Of several, none: which is meant, nobody can know."""
    if (project / "background.py").is_file():
        return "background"
    inside = [path.parent.name for path in project.glob("*/background.py") if path.parent.name.isidentifier()]
    return f"{inside[0]}.background" if len(inside) == 1 else ""


def _name(path: Path) -> str | None:
    """What the file calls the project; None where it does not."""
    said = _decoded(path)
    if path.suffix == ".toml":
        said = said.get("project") if isinstance(said, dict) else None
    name = said.get("name") if isinstance(said, dict) else None
    return name if isinstance(name, str) else None


def _decoded(path: Path) -> Any:
    """None where it cannot be read."""
    try:
        text = path.read_text("utf-8")
        return tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    except (OSError, ValueError):
        return None
