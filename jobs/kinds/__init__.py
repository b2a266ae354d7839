"""The kinds that ship."""

from typing import Any

from crontick.jobs.kind import Kind

__all__ = ["shipped"]


def shipped() -> tuple[Kind[Any], ...]:
    """The kinds that every deployment has."""
    return ()
