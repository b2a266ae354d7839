"""The texts of a mail, from the deployment's template files."""

import hashlib
import re
import time
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from crontick.jobs.kinds.message import Content

if TYPE_CHECKING:
    import jinja2

__all__ = ["FOLDER", "TemplateError", "TemplateMissing", "faults", "render"]

FOLDER: Final = "templates"
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")
_ENDINGS: Final = ("subject.txt", "txt", "html")
_CHARACTERS: Final = 1_000_000
_SECONDS: Final = 2.0
_WITH_DATA: Final = (ArithmeticError, LookupError, MemoryError, RecursionError, TypeError, ValueError)
"""What an expression may raise for want of other data."""


class TemplateError(ValueError):
    """The template and the job's data do not go together; the message does not quote the data."""


class TemplateMissing(LookupError):
    """There are no such files; the next deployment may bring them."""


def render(folder: Path, name: str, data: Mapping[str, Any]) -> Content:
    """Subject, text and HTML from ``NAME.subject.txt``, ``NAME.txt`` and ``NAME.html``; one of the last two may lack.

    HTML is escaped, a name that ``data`` lacks is an error, and at most a million characters are made in two seconds.
    Raises ``TemplateError`` or ``TemplateMissing``.
    """
    if not _NAME.fullmatch(name):
        raise TemplateError("template is the name of a file: letters, digits, _, . and -")
    environment = _environment(folder)
    subject = _rendered(environment, f"{name}.subject.txt", data)
    text, html = (_rendered(environment, f"{name}.{ending}", data) for ending in ("txt", "html"))
    if subject is None or (text is None and html is None):
        raise TemplateMissing(f"the folder {folder.name} needs {name}.subject.txt, and {name}.txt or {name}.html")
    return Content(subject.strip(), text, html, version=_version(environment, [f"{name}.{end}" for end in _ENDINGS]))


def faults(folder: Path) -> list[str]:
    """What is wrong with the templates of this folder: files that do not parse, and names without all their files."""
    import jinja2

    environment, found, names = _environment(folder), [], {path.name for path in folder.iterdir() if path.is_file()}
    for file in sorted(names):
        try:
            environment.get_template(file)
        except jinja2.TemplateSyntaxError as error:
            found.append(f"{folder.name}/{file}, line {error.lineno}: it is no Jinja template")
        except (jinja2.TemplateError, UnicodeDecodeError) as error:
            found.append(f"{folder.name}/{file}: {type(error).__name__}")
    for file in sorted(names):
        name = file.removesuffix(".subject.txt")
        if name != file and not names & {f"{name}.txt", f"{name}.html"}:
            found.append(f"{folder.name}/{file} has neither {name}.txt nor {name}.html beside it")
        if name != file and not _NAME.fullmatch(name):
            found.append(f"{folder.name}/{file}: {name} is no name that a payload can give")
    return found


def _version(environment: "jinja2.Environment", files: list[str]) -> str:
    """A hash of the files and of those that they include or extend by name."""
    import jinja2

    sources: dict[str, str] = {}
    wanted = list(files)
    while wanted:
        file = wanted.pop()
        if file in sources or environment.loader is None:
            continue
        try:
            sources[file] = environment.loader.get_source(environment, file)[0]
        except jinja2.TemplateNotFound:
            continue
        wanted += _referred(environment, sources[file])
    told = "\0".join(part for named in sorted(sources.items()) for part in named)
    return hashlib.sha256(told.encode()).hexdigest()[:16]


@lru_cache(maxsize=256)
def _referred(environment: "jinja2.Environment", source: str) -> tuple[str, ...]:
    from jinja2 import meta

    return tuple(name for name in meta.find_referenced_templates(environment.parse(source)) if name)


def _rendered(environment: "jinja2.Environment", file: str, data: Mapping[str, Any]) -> str | None:
    import jinja2

    from crontick.jobs.kinds.template_time import UNTIL, TooSlow

    made, characters, slow, until = [], 0, False, time.monotonic() + _SECONDS
    UNTIL.set(until)
    try:
        for piece in environment.get_template(file).generate(data):
            made.append(piece)
            characters += len(piece)
            slow = time.monotonic() > until
            if slow or characters > _CHARACTERS:
                break
        else:
            return "".join(made)
    except jinja2.TemplateNotFound:
        return None
    except jinja2.TemplateSyntaxError as error:
        raise TemplateError(f"{file}, line {error.lineno}: it is no Jinja template") from None
    except jinja2.UndefinedError as error:
        raise TemplateError(f"{file}: {error.message}, and the job's data has no such name") from None
    except TooSlow:
        slow = True
    except (
        jinja2.TemplateError,
        RecursionError,
        MemoryError,
        ArithmeticError,
        LookupError,
        TypeError,
        ValueError,
    ) as error:
        raise TemplateError(f"{file}: {type(error).__name__} when it met the job's data") from None
    raise TemplateError(f"{file} takes longer than {_SECONDS:g} s" if slow else f"{file} makes more than a mail holds")


@cache
def _environment(folder: Path) -> "jinja2.Environment":
    import jinja2
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    from crontick.jobs.kinds.template_time import InTime

    return ImmutableSandboxedEnvironment(
        loader=jinja2.FileSystemLoader(folder),
        undefined=jinja2.StrictUndefined,
        autoescape=jinja2.select_autoescape(["html"]),
        keep_trailing_newline=True,
        extensions=[InTime],
    )
