"""Write a set of templates into a project, over nothing that is there."""

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from string import Template as Text

from crontick.handler.init.sets import TemplateSet

__all__ = ["Written", "write"]


@dataclass(frozen=True, slots=True)
class Written:
    """Paths below the project: ``kept`` were there before, ``left_out`` test one of those."""

    written: tuple[str, ...]
    kept: tuple[str, ...]
    left_out: tuple[str, ...]
    then: tuple[str, ...]


def write(templates: TemplateSet, project: Path, package: str | None = None) -> Written:
    """Every file of the set that was not there; a file that was is neither changed nor read.

    ``package`` is the dotted name of a package below ``project``. Raises ``OSError``.
    """
    values = {
        "folder": f"{package.replace('.', '/')}/" if package else "",
        "module": f"{package}.background" if package else "background",
        "modules": f"CRONTICK_MODULES={package}.background " if package else "",
    }
    written: list[str] = []
    kept: list[str] = []
    left_out: list[str] = []
    for template in templates.templates:
        target = Text(template.target).substitute(values)
        if template.tests is not None and Text(template.tests).substitute(values) not in written:
            (kept if (project / target).exists() else left_out).append(target)
            continue
        source = files("crontick.handler.init") / templates.name / f"{template.source}.template"
        text = source.read_text("utf-8").replace("$module", values["module"])
        (written if _new(project / target, text) else kept).append(target)
    then = tuple(Text(command).substitute(values) for command in templates.then)
    return Written(tuple(written), tuple(kept), tuple(left_out), then)


def _new(path: Path, text: str) -> bool:
    """False when something was there, also when it came this moment."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        return False
    return True
