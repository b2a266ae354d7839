"""What is written together, and where each file of it goes."""

from dataclasses import dataclass

__all__ = ["Template", "TemplateSet"]


@dataclass(frozen=True, slots=True)
class Template:
    """``source`` is a file below the package ``anchor``.

    ``target`` may hold ``$folder``, the text of the file ``$module``. With ``tests``, it is written only when that
    target was: a test of somebody else's file would fail.
    """

    source: str
    target: str
    tests: str | None = None
    anchor: str = "crontick.handler.init"


@dataclass(frozen=True, slots=True)
class TemplateSet:
    """``then`` are the commands to type next.

    ``url`` stands for the app's address in files of an example app, which are filled in; None in those that are not.
    With ``needs_url`` no other address can be guessed. ``each`` is what to add, and after which text, for each variable
    that the project's ``crontick.toml`` names: ``<NAME>``, or ``<name>`` where neither capitals nor _ are taken.
    """

    name: str
    templates: tuple[Template, ...]
    then: tuple[str, ...]
    url: str | None = None
    needs_url: bool = False
    each: tuple[tuple[str, str], ...] = ()
