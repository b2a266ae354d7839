"""What a command found: sentences with their mends, and whether one of them is a fault."""

from collections.abc import Sequence
from typing import NamedTuple

import typer

from crontick.handler.cli.screen import say, say_json


class Finding(NamedTuple):
    """``wrong`` ends the command with 1; anything else is only said."""

    wrong: bool
    sentence: str


def tell(findings: Sequence[Finding], *, as_json: bool, **more: str) -> None:
    """Say them all, and what ``more`` is known in JSON; exit 1 when one of them is wrong."""
    wrong = any(finding.wrong for finding in findings)
    if as_json:
        say_json({"ok": not wrong, **more, "findings": [finding._asdict() for finding in findings]})
    else:
        for finding in findings:
            say(f"{'!' if finding.wrong else '-'} {finding.sentence}")
        say("something is wrong" if wrong else "all is well")
    if wrong:
        raise typer.Exit(1)
