"""The table of every kind that a deployment has, with the numbers that govern its attempts."""

from collections.abc import Iterator
from typing import Any, Final

from crontick.jobs.backoff import Backoff, Exponential
from crontick.jobs.deployment import Deployment
from crontick.jobs.kind import Kind
from crontick.jobs.sections import KindSettings

__all__ = ["COLUMNS", "rows"]

COLUMNS: Final = (
    "kind", "queue", "priority", "timeout", "needs", "attempts", "delays", "marker", "secret", "breaker", "declared",
    "overridden",
)  # fmt: skip
_UNITS: Final = ((86_400, "d"), (3600, "h"), (60, "m"))


def rows(deployment: Deployment) -> Iterator[dict[str, Any]]:
    """One row a kind, by name; ``overridden`` has what ``[kinds.NAME]`` says otherwise than the kind's author."""
    for name, kind in sorted(deployment.kinds.items()):
        said = deployment.config.kinds.get(name)
        yield {
            "kind": name,
            "queue": kind.queue,
            "priority": kind.priority,
            "timeout": _length(kind.timeout_seconds),
            "needs": _length(kind.needs_seconds),
            "attempts": kind.max_attempts,
            "delays": delays(kind.backoff),
            "marker": _marker(kind),
            "secret": ", ".join(sorted(kind.secret)) or None,
            "breaker": "yes" if kind.breaker else None,
            "declared": _where(kind, said),
            "overridden": ", ".join(_otherwise(said)) or None,
        }


def delays(backoff: Backoff) -> str:
    """The waits after each attempt, the last repeated; for a growing one base, factor and cap."""
    if isinstance(backoff, Exponential):
        return f"{_length(backoff.base)} x{backoff.factor:g} to {_length(backoff.cap)}"
    return " ".join(map(_length, backoff.steps))


def _marker(kind: Kind[Any]) -> str | None:
    """The payload's field that is the key of the marker, and what is done in doubt."""
    if kind.marker is None:
        return None
    return f"{kind.marker or 'its first job'} ({kind.in_doubt})"


def _where(kind: Kind[Any], said: KindSettings | None) -> str:
    if said is not None and said.url is not None:
        return "crontick.toml"
    module: str = kind.function.__module__
    return "crontick" if module.startswith("crontick.") else f"{module}:{kind.function.__name__}"


def _otherwise(said: KindSettings | None) -> Iterator[str]:
    if said is not None:
        for name in said.__struct_fields__:
            if name != "url" and getattr(said, name) not in (None, ()):
                yield name


def _length(seconds: float) -> str:
    """In the largest unit that leaves no fraction."""
    for size, unit in _UNITS:
        if seconds >= size and seconds % size == 0:
            return f"{seconds / size:g}{unit}"
    return f"{seconds:g}s"
