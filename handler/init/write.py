"""Write a set of templates into a project, over nothing that is there unless it may."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from string import Template as Text

from crontick.handler.init.answers import Answers
from crontick.handler.init.template import TemplateSet

__all__ = ["Written", "write"]


@dataclass(frozen=True, slots=True)
class Written:
    """Paths below the project: ``kept`` were there before, ``left_out`` test one of those."""

    written: tuple[str, ...]
    kept: tuple[str, ...]
    left_out: tuple[str, ...]
    then: tuple[str, ...]


def write(
    templates: TemplateSet,
    project: Path,
    package: str | None = None,
    *,
    answers: Answers | None = None,
    over: Callable[[str], bool] = lambda _target: False,
) -> Written:
    """Every file of the set that was not there; of a file that was, ``over`` says whether it is written over.

    ``package`` is the dotted name of a package below ``project``. Raises ``OSError``.
    """
    values = {
        "folder": f"{package.replace('.', '/')}/" if package else "",
        "module": f"{package}.background" if package else "background",
        "modules": f"CRONTICK_MODULES={package}.background " if package else "",
    }
    told = answers or Answers()

    def fill(text: str) -> str:
        return text.replace("$module", values["module"]) if templates.url is None else told.fill(text, templates)

    written: list[str] = []
    kept: list[str] = []
    left_out: list[str] = []
    for template in templates.templates:
        target = Text(template.target).substitute(values)
        if template.tests is not None and Text(template.tests).substitute(values) not in written:
            (kept if (project / target).exists() else left_out).append(target)
            continue
        text = fill((files(template.anchor) / template.source).read_text("utf-8"))
        path = project / target
        is_written = _new(path, text) or (_differs(path, text) and over(target) and path.write_text(text, "utf-8") >= 0)
        (written if is_written else kept).append(target)
    if templates.url is None:
        then = tuple(Text(command).substitute(values) for command in templates.then)
    else:
        then = tuple(fill(command) for command in templates.then)
    return Written(tuple(written), tuple(kept), tuple(left_out), then)


def _differs(path: Path, text: str) -> bool:
    """True for a file with another text; a folder in the file's place is left alone."""
    return path.is_file() and path.read_bytes() != text.encode()


def _new(path: Path, text: str) -> bool:
    """False when something was there, also when it came this moment."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        return False
    return True
