"""Insert jobs on the caller's own connection: the statement is built once, and executed as that connection does it."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Literal, TypedDict

import msgspec
import psycopg
from psycopg.rows import tuple_row

from crontick.sql import Query, query

__all__ = ["Options", "Order", "enqueue", "enqueue_many", "execute"]


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
    """The arguments of one ``crontick.enqueue``."""

    kind: str
    payload: str
    run_at: datetime | None = None
    delay_seconds: float | None = None
    queue: str | None = None
    priority: int | None = None
    max_attempts: int | None = None
    unique_key: str | None = None
    unique_for: str = "active"
    group_key: str | None = None
    on_conflict: Literal["keep", "replace"] = "keep"
    expires_at: datetime | None = None

    @classmethod
    def build(  # noqa: PLR0913 (the arguments of the SQL function)
        cls,
        kind: str,
        payload: str,
        *,
        run_at: datetime | timedelta | float | None = None,
        unique_for: str | timedelta = "active",
        expires_at: datetime | None = None,
        queue: str | None = None,
        priority: int | None = None,
        max_attempts: int | None = None,
        unique_key: str | None = None,
        group_key: str | None = None,
        on_conflict: Literal["keep", "replace"] = "keep",
    ) -> "Order":
        """Raises ``ValueError`` for a datetime without a zone: nobody can know which moment it means."""
        moment, delay = None, None
        if isinstance(run_at, datetime):
            moment = _aware("run_at", run_at)
        elif run_at is not None:
            delay = run_at.total_seconds() if isinstance(run_at, timedelta) else float(run_at)
        return cls(
            kind=kind,
            payload=payload,
            run_at=moment,
            delay_seconds=delay,
            queue=queue,
            priority=priority,
            max_attempts=max_attempts,
            unique_key=unique_key,
            unique_for=f"{unique_for.total_seconds()} seconds" if isinstance(unique_for, timedelta) else unique_for,
            group_key=group_key,
            on_conflict=on_conflict,
            expires_at=None if expires_at is None else _aware("expires_at", expires_at),
        )

    def values(self) -> dict[str, Any]:
        """The parameters of ``enqueue_job``."""
        return {name: getattr(self, name) for name in self.__struct_fields__}

    def as_json(self) -> dict[str, Any]:
        """One element of ``enqueue_many``, without what is not said; the payload is JSON already."""
        return {
            name: value.isoformat() if isinstance(value, datetime) else value
            for name, value in self.values().items()
            if value is not None and name != "payload"
        }


def enqueue(conn: Any, order: Order) -> Any:
    """The id on a sync connection, an awaitable of it on an async one."""
    return execute(conn, query("enqueue_job"), order.values())


def enqueue_many(conn: Any, orders: Sequence[Order]) -> Any:
    """The ids in the order of the orders; an awaitable of them on an async connection."""
    if any(order.delay_seconds is not None for order in orders):
        raise ValueError("enqueue_many takes run_at as an aware datetime, not as a delay")
    jobs = "[" + ",".join(_element(order) for order in orders) + "]"
    return execute(conn, query("enqueue_jobs"), {"jobs": jobs}, many=True)


def execute(conn: Any, statement: Query, values: Mapping[str, Any], *, many: bool = False) -> Any:
    """Run a statement on somebody's connection, in the transaction that is open there."""
    if isinstance(conn, psycopg.AsyncConnection):
        return _execute_async(conn, statement, values, many=many)
    if isinstance(conn, psycopg.Connection):
        cursor = conn.cursor(row_factory=tuple_row).execute(statement.text.encode(), values)
        return _taken(cursor.fetchall(), many=many)
    raise TypeError(
        f"{type(conn).__module__}.{type(conn).__qualname__} is not a connection that crontick knows: pass psycopg's"
    )


async def _execute_async(
    conn: psycopg.AsyncConnection[Any], statement: Query, values: Mapping[str, Any], *, many: bool
) -> Any:
    cursor = await conn.cursor(row_factory=tuple_row).execute(statement.text.encode(), values)
    return _taken(await cursor.fetchall(), many=many)


def _taken(rows: list[Any], *, many: bool) -> Any:
    return [row[1] for row in rows] if many else rows[0][0]


def _element(order: Order) -> str:
    return json.dumps(order.as_json())[:-1] + f', "payload": {order.payload}}}'


def _aware(name: str, moment: datetime) -> datetime:
    if moment.tzinfo is None:
        raise ValueError(
            f"{name} {moment} has no time zone: give an aware datetime, for example with datetime.now(UTC)"
        )
    return moment
