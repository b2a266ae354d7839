"""The kinds that ship."""

from typing import Any

from crontick.jobs.kind import Kind


def shipped() -> tuple[Kind[Any], ...]:
    """Every kind of crontick's own."""
    return ()
