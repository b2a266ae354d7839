"""The limits of ``crontick.toml``: what is wrong with them, and what the database is told of them."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from crontick.jobs.deployment import DeploymentError
from crontick.jobs.fit import Fault
from crontick.jobs.kind import Kind
from crontick.jobs.kinds.settings import EmailSettings
from crontick.jobs.sections import LimitSettings

__all__ = ["check_keys", "limits_json", "misfits"]

_UNITS: Final = {"second": 1, "minute": 60, "hour": 3600, "day": 86400}
_MOST: Final = 1_000_000
_KEY: Final = re.compile(r"payload((?:\.[^.\s]+)+)")
_SENDS_BY: Final = {"smtp": "send_email", "resend": "send_email"}


def misfits(limits: Mapping[str, LimitSettings | None], email: EmailSettings | None) -> Iterator[Fault]:
    """Each fault with its path in the file; what is None has told its own."""
    for name, limit in limits.items():
        if limit is not None:
            for field, sentence in _misfits(limit, email):
                yield Fault(("limits", name, field) if field else ("limits", name), sentence)


def _misfits(limit: LimitSettings, email: EmailSettings | None) -> Iterator[tuple[str | None, str]]:
    of = [what for what in ("kind", "queue", "endpoint", "provider") if getattr(limit, what) is not None]
    if not of:
        yield None, "says not what it limits: add kind, queue, endpoint or provider"
    elif len(of) > 1:
        yield of[1], f"{' and '.join(of)} in one limit: write a limit for each, and a job of both waits for both"
    if limit.rate is None and limit.concurrency is None:
        yield None, "limits nothing: add a rate, such as 100/minute, or a concurrency"
    if limit.burst is not None and limit.rate is None:
        yield "burst", "belongs to a rate, and there is none: concurrency is how many may run at once"
    if limit.key is not None and not _KEY.fullmatch(limit.key):
        yield "key", f"{limit.key!r} is no field of a payload: write payload.tenant, or payload.customer.id"
    if limit.rate is not None:
        try:
            _rate(limit.rate)
        except ValueError as error:
            yield "rate", str(error)
    if limit.provider is not None and (email is None or email.provider != limit.provider):
        sends = "there is no [email]" if email is None else f"[email] says {email.provider}"
        yield "provider", f"nothing is sent through {limit.provider}: {sends}"


def check_keys(limits: Mapping[str, LimitSettings], kinds: Mapping[str, Kind[Any]]) -> None:
    """Raises ``DeploymentError`` for a key that is a secret field: the key of a limit is kept in clear."""
    for name, limit in limits.items():
        if limit.key is None:
            continue
        field = limit.key.split(".")[1]
        for kind in kinds.values():
            if field in kind.secret and (limit.kind == kind.name or limit.queue == kind.queue):
                raise DeploymentError(
                    f"[limits.{name}] counts by {limit.key}, a secret field of {kind.name}, and would keep it in clear:"
                    " name another field"
                )


def limits_json(limits: Mapping[str, LimitSettings]) -> str:
    """What a claim is told. Spacing is how long one start of the rate takes, rounded up: never above it."""
    return msgspec.json.encode([_told(name, limit) for name, limit in sorted(limits.items())]).decode()


def _told(name: str, limit: LimitSettings) -> dict[str, Any]:
    told: dict[str, Any] = {"name": name}
    said = []
    kind = _SENDS_BY[limit.provider] if limit.provider else "deliver_webhook" if limit.endpoint else limit.kind
    if kind is not None:
        told["kinds"] = [kind]
    for what in ("queue", "endpoint"):
        if (value := getattr(limit, what)) is not None:
            told[what] = value
    if limit.key is not None:
        told["path"] = limit.key.split(".")[1:]
    if limit.rate is not None:
        count, unit = _rate(limit.rate)
        told |= {"spacing_us": -(-_UNITS[unit] * 1_000_000 // count), "burst": limit.burst or count}
        said.append(f"{count} {'an' if unit == 'hour' else 'a'} {unit}")
        if limit.burst is not None:
            said.append(f"{limit.burst} at once")
    if limit.concurrency is not None:
        told["concurrency"] = limit.concurrency
        said.append(f"{limit.concurrency} at a time")
    return told | {"said": ", ".join(said)}


def _rate(text: str) -> tuple[int, str]:
    match = re.fullmatch(r"([0-9]{1,7})/([a-z]+)", text)
    if match is None or match[2] not in _UNITS or not 1 <= int(match[1]) <= _MOST:
        raise ValueError(f"{text!r} is no rate: write 10/second, 100/minute, 1000/hour or 5000/day, {_MOST} at most")
    return int(match[1]), match[2]
