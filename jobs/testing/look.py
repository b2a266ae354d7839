"""What was enqueued and has not run, as the test's open transaction sees it."""

import os
from collections.abc import Awaitable, Mapping
from typing import Any, TypeVar, overload

import msgspec

from crontick.jobs.connections import AsyncCallersConnection, CallersConnection
from crontick.jobs.kind import Kind
from crontick.jobs.run import SCHEDULED, SEALED, TRACED
from crontick.jobs.testing.deployed import deployed
from crontick.jobs.testing.say import ask, held

__all__ = ["enqueued"]

P = TypeVar("P")


@overload
def enqueued(conn: CallersConnection, kind: Kind[P]) -> list[P]: ...
@overload
def enqueued(conn: CallersConnection, kind: None = None) -> list[Any]: ...
@overload
def enqueued(conn: AsyncCallersConnection, kind: Kind[P]) -> Awaitable[list[P]]: ...
@overload
def enqueued(conn: AsyncCallersConnection, kind: None = None) -> Awaitable[list[Any]]: ...
def enqueued(conn: Any, kind: Kind[Any] | None = None) -> Any:
    """The payloads of the jobs that wait, in the order of their ids; an awaitable of them on an async connection.

    Those of one kind, or of all: each typed as its kind in ``CRONTICK_MODULES`` has it, and as plain JSON where no
    module has its kind.
    """
    return held(conn, _payloads(conn, kind))


async def _payloads(conn: Any, kind: Kind[Any] | None) -> list[Any]:
    rows = await ask(conn, "list_waiting_payloads", {"kind": None if kind is None else kind.name})
    known: Mapping[str, Kind[Any]] = {kind.name: kind} if kind is not None else deployed("test").kinds
    return [
        known[name].payload.decode(clear) if name in known else msgspec.json.decode(clear.encode())
        for name, text in rows
        for clear in [_clear(name, text)]
    ]


def _clear(kind: str, text: str) -> str:
    """Without its slot, and with its secret fields opened by the keys of this process's environment."""
    if SCHEDULED in text:
        from crontick.jobs.scheduled import slot_of

        text, _ = slot_of(text)
    if TRACED in text:
        from crontick.jobs.trace_context import without

        text, _ = without(text)
    if SEALED not in text:
        return text
    from crontick.jobs.sealing import keyring_of
    from crontick.jobs.secret_fields import open_fields

    return open_fields(text, kind, keyring_of(os.environ))[0]
