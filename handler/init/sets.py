"""All that there is to write, by name."""

from typing import Final

from crontick.handler.init.folders import folder_names, folder_set
from crontick.handler.init.template import Template, TemplateSet

__all__ = ["names", "template_set"]

_KINDS: Final = "${folder}background.py"
_PROJECT: Final = TemplateSet(
    "project",
    (
        Template("project/crontick.toml.template", "crontick.toml"),
        Template("project/background.py.template", _KINDS),
        Template("project/test_background.py.template", "test_background.py", tests=_KINDS),
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
        Template("github/cron-tick.yml.template", ".github/workflows/cron-tick.yml"),
        Template("github/action.yml.template", ".github/actions/tick/action.yml"),
        Template("github/tick.py.template", ".github/actions/tick/tick.py"),
    ),
    (
        "gh secret set CRONTICK_URL",
        "gh secret set CRON_SECRET",
        "gh workflow run cron-tick.yml",
        "crontick verify-trigger    # waits for its tick; and again, for one that comes by itself",
    ),
)
_OURS: Final = {one.name: one for one in (_PROJECT, _GITHUB)}


def names() -> list[str]:
    """What ``template_set`` knows: our own first, then the folders of ``deploy/``."""
    return [*_OURS, *folder_names()]


def template_set(name: str) -> TemplateSet:
    """One of ``names``."""
    return _OURS.get(name) or folder_set(name)
