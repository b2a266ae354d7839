"""A job as its caller orders it: what the one statement that inserts it is given, on whatever connection."""

import json
import math
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, Literal, TypedDict, Unpack

import msgspec

from crontick.jobs.payload import PayloadError, stored_bytes
from crontick.sql import query

__all__ = ["Options", "Order", "enqueue", "enqueue_many"]

_MOST_JOBS: Final = 10_000
_MOST_BYTES: Final = 2**24


class Options(TypedDict, total=False):
    """How a job is enqueued otherwise than its kind says; ``run_at`` is an aware datetime, or a delay from now."""

    run_at: datetime | timedelta | float | None
    queue: str | None
    priority: int | None
    max_attempts: int | None
    unique_key: str | None
    unique_for: str | timedelta
    group_key: str | None
    on_conflict: Literal["keep", "replace"]
    expires_at: datetime | None


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of one ``crontick.enqueue``; moments are text, whatever the driver was taught to make of them."""

    kind: str
    payload: str
    run_at: str | None = None
    delay_seconds: float | None = None
    queue: str | None = None
    priority: int | None = None
    max_attempts: int | None = None
    unique_key: str | None = None
    unique_for: str = "active"
    group_key: str | None = None
    on_conflict: Literal["keep", "replace"] = "keep"
    expires_at: str | None = None

    @classmethod
    def build(cls, kind: str, payload: str, **options: Unpack[Options]) -> "Order":
        """Raises ``TypeError`` for an option that does not exist or has no such values.

        Raises ``ValueError`` for a datetime without a zone: nobody can know which moment it means; and for a delay that
        is not finite.
        """
        if unknown := sorted(options.keys() - Options.__annotations__.keys()):
            raise TypeError(
                f"{kind}.enqueue has no option {', '.join(unknown)}: it has {', '.join(Options.__annotations__)}"
            )
        told: dict[str, Any] = {"kind": kind, "payload": payload, **options}
        run_at, unique_for = told.get("run_at"), told.get("unique_for")
        if isinstance(run_at, timedelta | float | int):
            del told["run_at"]
            told["delay_seconds"] = _seconds(kind, run_at)
        if isinstance(unique_for, timedelta):
            told["unique_for"] = f"{unique_for.total_seconds()} seconds"
        try:
            for name in ("run_at", "expires_at"):
                if told.get(name) is not None:
                    told[name] = _aware(name, told[name])
            return msgspec.convert(told, cls)
        except (msgspec.ValidationError, TypeError) as error:
            raise TypeError(f"{kind}.enqueue: {error}") from None

    def values(self) -> dict[str, Any]:
        """The parameters of ``enqueue_job``."""
        return {name: getattr(self, name) for name in self.__struct_fields__}

    def as_json(self) -> dict[str, Any]:
        """One element of ``enqueue_many``, without what is not said; the payload is JSON already."""
        return {name: value for name, value in self.values().items() if value is not None and name != "payload"}


def enqueue(conn: Any, order: Order) -> Any:
    """The id on a sync connection, an awaitable of it on an async one."""
    from crontick.jobs.on_connection import execute

    return _waking(conn, [order], lambda: execute(conn, query("enqueue_job"), order.values(), lambda rows: rows[0][0]))


def enqueue_many(conn: Any, orders: Sequence[Order]) -> Any:
    """The ids in the order of the orders; an awaitable of them on an async connection.

    Raises ``PayloadError`` for more than SQL takes in one statement: its refusal would end the caller's transaction.
    """
    from crontick.jobs.on_connection import execute

    jobs = "[" + ",".join(_element(order) for order in orders) + "]"
    if len(orders) > _MOST_JOBS or (size := stored_bytes(jobs)) > _MOST_BYTES:
        many = f"{len(orders)} jobs" if len(orders) > _MOST_JOBS else f"{size} bytes"
        raise PayloadError(f"enqueue_many takes 10000 jobs and 16 MiB at most, not {many}: send several batches")
    return _waking(
        conn,
        orders,
        lambda: execute(conn, query("enqueue_jobs"), {"jobs": jobs}, lambda rows: [row[1] for row in rows]),
    )


def _waking(conn: Any, orders: Sequence[Order], run: Callable[[], Any]) -> Any:
    """What ``run`` returns; where there is a ``[wake]``, an alarm is set after the commit."""
    from crontick.jobs.wake.configured import configured

    if configured() is None:
        return run()
    from crontick.jobs.wake.after_commit import enqueued

    return enqueued(conn, orders, run)


def _element(order: Order) -> str:
    return json.dumps(order.as_json())[:-1] + f', "payload": {order.payload}}}'


def _seconds(kind: str, delay: timedelta | float) -> float:
    seconds = delay.total_seconds() if isinstance(delay, timedelta) else float(delay)
    if not math.isfinite(seconds):
        raise ValueError(f"{kind}.enqueue: run_at is a finite number of seconds from now, not {seconds}")
    return seconds


def _aware(name: str, moment: Any) -> str:
    if not isinstance(moment, datetime):
        raise TypeError(f"{name} is an aware datetime{', or a delay' * (name == 'run_at')}, not {moment!r}")
    if moment.tzinfo is None:
        raise ValueError(
            f"{name} {moment} has no time zone: give an aware datetime, for example with datetime.now(UTC)"
        )
    return moment.isoformat()
