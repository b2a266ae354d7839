"""Which templates there are, where each is written, and what to type afterwards."""

from dataclasses import dataclass
from typing import Final

__all__ = ["SETS", "Template", "TemplateSet"]


@dataclass(frozen=True, slots=True)
class Template:
    """``source`` lies in the folder of its set, with ``.template`` behind it.

    ``target`` may hold ``$folder``, the text of the file ``$module``. With ``tests``, it is written only when that
    target was: a test of somebody else's file would fail.
    """

    source: str
    target: str
    tests: str | None = None


@dataclass(frozen=True, slots=True)
class TemplateSet:
    """``name`` is also the folder of the templates."""

    name: str
    templates: tuple[Template, ...]
    then: tuple[str, ...]


_KINDS: Final = "${folder}background.py"
_PROJECT: Final = TemplateSet(
    "project",
    (
        Template("crontick.toml", "crontick.toml"),
        Template("background.py", _KINDS),
        Template("test_background.py", "test_background.py", tests=_KINDS),
    ),
    (
        "${modules}crontick dev",
        """. .crontick/env && crontick enqueue send_welcome '{"email": "ada@users.example", "name": "Ada"}'""",
        "python -m pytest test_background.py",
    ),
)
_GITHUB: Final = TemplateSet(
    "github",
    (
        Template("cron-tick.yml", ".github/workflows/cron-tick.yml"),
        Template("action.yml", ".github/actions/tick/action.yml"),
        Template("tick.py", ".github/actions/tick/tick.py"),
    ),
    (
        "gh secret set CRONTICK_URL",
        "gh secret set CRON_SECRET",
        "gh workflow run cron-tick.yml",
    ),
)

SETS: Final = {one.name: one for one in (_PROJECT, _GITHUB)}
