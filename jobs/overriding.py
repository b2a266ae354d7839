"""``[kinds.NAME]``: what the operator says otherwise than a kind's author, and kinds that are a URL."""

from collections.abc import Mapping
from typing import Any

import msgspec

from crontick.jobs import backoff as backoffs
from crontick.jobs.deployment import DeploymentError
from crontick.jobs.kind import Kind
from crontick.jobs.sections import Exponential, KindSettings

__all__ = ["overridden"]


def overridden(kinds: Mapping[str, Kind[Any]], tables: Mapping[str, KindSettings]) -> dict[str, Kind[Any]]:
    """The kinds that the tables name, as the operator wants them. Raises ``DeploymentError``."""
    made: dict[str, Kind[Any]] = {}
    for name, said in tables.items():
        if said.url is None:
            kind = kinds[name]
        else:
            from crontick.jobs.kinds.http_kind import http_kind

            kind = http_kind(name, said.url)
        made[name] = _changed(kind, said)
    return made


def _changed(kind: Kind[Any], said: KindSettings) -> Kind[Any]:
    changes: dict[str, Any] = {
        name: value
        for name in ("queue", "priority", "max_attempts", "on_failure", "breaker")
        if (value := getattr(said, name)) is not None
    }
    if said.timeout is not None:
        timeout = said.timeout.total_seconds()
        changes["timeout_seconds"] = timeout
        if said.needs is None:
            needs_all = kind.needs_seconds == kind.timeout_seconds
            changes["needs_seconds"] = min(kind.needs_seconds, timeout) if not needs_all else timeout
    if said.needs is not None:
        changes["needs_seconds"] = said.needs.total_seconds()
    if said.secret:
        if kind.marker in said.secret:
            raise DeploymentError(
                f"[kinds.{kind.name}] secret names {kind.marker}, the key of its markers, which is kept in clear"
            )
        changes["secret"] = kind.secret | frozenset(said.secret)
    if isinstance(said.backoff, Exponential):
        changes["backoff"] = backoffs.Exponential(
            said.backoff.base.total_seconds(), said.backoff.factor, said.backoff.cap.total_seconds()
        )
    elif said.backoff is not None:
        changes["backoff"] = backoffs.normal(said.backoff)
    return msgspec.structs.replace(kind, **changes)
