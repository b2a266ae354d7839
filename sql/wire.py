"""One round trip for any number of statements: libpq's own pipeline, driven by the event loop.

psycopg's ``pipeline.sync()`` waits for the answers of what was sent, so that each costs a trip. Here everything is
written at once, and read while it is written (both sides' buffers may be full). A segment ends with a sync: it is a
transaction of its own, and an error stays inside it. Works through poolers in transaction mode; nothing is prepared.
"""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import chain
from typing import Any, NoReturn, TypeAlias

import msgspec
import psycopg
from psycopg import pq
from psycopg.adapt import Transformer
from psycopg.errors import error_from_result

from crontick.sql import Query

__all__ = ["Answer", "Parts", "Segment", "Statement", "Value", "count_rows", "encoded", "statement", "trip"]

Value: TypeAlias = str | bytes | int | float | bool | datetime | Sequence[int] | Sequence[float] | Sequence[str] | None
Statement: TypeAlias = tuple[bytes, list[bytes | None]]
Segment: TypeAlias = Sequence[Statement]
Rows: TypeAlias = list[tuple[Any, ...]]

_QUOTED = str.maketrans({"\\": "\\\\", '"': '\\"'})


class Answer(msgspec.Struct, frozen=True):
    """What one segment answered: the rows of each statement, or the error that ended it."""

    rows: list[Rows]
    error: psycopg.Error | None = None

    def check(self) -> None:
        """Raises the error, if one ended it."""
        if self.error is not None:
            raise self.error


class Parts:
    """Statements by what they are for, in the order in which they are sent: read by name wherever each stands."""

    def __init__(self, **named: Sequence[Statement]) -> None:
        self._named = named

    @property
    def statements(self) -> list[Statement]:
        """All of them."""
        return list(chain.from_iterable(self._named.values()))

    def read(self, rows: Sequence[Any]) -> tuple[Mapping[str, Sequence[Any]], Sequence[Any]]:
        """What each name's statements answered, and what those answered that were sent after them all."""
        told, at = {}, 0
        for name, statements in self._named.items():
            told[name], at = rows[at : at + len(statements)], at + len(statements)
        return told, rows[at:]


def statement(query: Query, values: Mapping[str, Value]) -> Statement:
    """A statement ready for the wire; every parameter goes as text, its type is the server's business."""
    return query.wire, [encoded(values[name]) for name in query.names]


def encoded(value: Value) -> bytes | None:
    """One parameter as libpq takes it, in text."""
    match value:
        case None:
            return None
        case bytes():
            return value
        case str():
            return value.encode()
        case bool():
            return b"t" if value else b"f"
        case int() | float():
            return str(value).encode()
        case datetime():
            return value.isoformat().encode()
    if value and isinstance(value[0], str):
        return ("{" + ",".join(f'"{item.translate(_QUOTED)}"' for item in map(str, value)) + "}").encode()
    return ("{" + ",".join(map(str, value)) + "}").encode()


async def trip(
    conn: psycopg.AsyncConnection[Any], segments: Sequence[Segment], *, timeout_seconds: float
) -> list[Answer]:
    """Send the segments and return their answers, in one round trip.

    Raises ``TimeoutError`` or ``psycopg.OperationalError`` when the answers cannot be had: the connection is then in an
    unknown state and is closed, and what was sent may or may not have happened.
    """
    pgconn = conn.pgconn
    try:
        pgconn.nonblocking = 1
        pgconn.enter_pipeline_mode()
        for segment in segments:
            for text, values in segment:
                pgconn.send_query_params(text, values, result_format=pq.Format.BINARY)
            pgconn.pipeline_sync()
        async with asyncio.timeout(timeout_seconds):
            answers = await _receive(conn, len(segments))
        pgconn.exit_pipeline_mode()
    except BaseException:
        pgconn.finish()
        raise
    return answers


async def count_rows(conn: psycopg.AsyncConnection[Any], text: bytes, values: Sequence[bytes | None]) -> int | None:
    """How many rows one statement changed or returned; None where PostgreSQL counts none.

    What it returns is forgotten row by row as it comes, so that no number of rows fills the memory. Raises the
    database's error; a connection that was left in the middle is closed.
    """
    pgconn, encoding = conn.pgconn, conn.info.encoding
    returned, counted, error = 0, None, None
    try:
        pgconn.nonblocking = 1
        pgconn.send_query_params(text, values)
        pgconn.set_single_row_mode()
        while unsent := pgconn.flush() == 1:
            await _ready(pgconn.socket, writing=unsent)
            pgconn.consume_input()
        while (result := await _next_result(pgconn)) is not None:
            match result.status:
                case pq.ExecStatus.SINGLE_TUPLE:
                    returned += 1
                case pq.ExecStatus.TUPLES_OK:
                    counted = returned
                case pq.ExecStatus.COMMAND_OK:
                    counted = result.command_tuples
                case pq.ExecStatus.FATAL_ERROR:
                    error = error_from_result(result, encoding)
                case other:
                    _refuse(other)
    except BaseException:
        pgconn.finish()
        raise
    if error is not None:
        raise error
    return counted


def _refuse(status: int) -> NoReturn:
    said = pq.ExecStatus(status).name
    raise psycopg.NotSupportedError(f"a statement here answers rows or a count of them, not {said}")


async def _next_result(pgconn: pq.abc.PGconn) -> pq.abc.PGresult | None:
    while pgconn.is_busy():
        await _ready(pgconn.socket, writing=False)
        pgconn.consume_input()
    return pgconn.get_result()


async def _receive(conn: psycopg.AsyncConnection[Any], count: int) -> list[Answer]:
    pgconn, transformer = conn.pgconn, Transformer(conn)
    encoding = conn.info.encoding
    answers: list[Answer] = []
    rows: list[Rows] = []
    error: psycopg.Error | None = None
    unsent = pgconn.flush()
    await _ready(pgconn.socket, writing=unsent == 1)
    while True:
        pgconn.consume_input()
        if unsent:
            unsent = pgconn.flush()
        while not pgconn.is_busy():
            result = pgconn.get_result()
            if result is None:
                continue
            if result.status == pq.ExecStatus.PIPELINE_SYNC:
                answers.append(Answer(rows, error))
                if len(answers) == count:
                    return answers
                rows, error = [], None
            elif result.status == pq.ExecStatus.TUPLES_OK:
                transformer.set_pgresult(result, format=pq.Format.BINARY)
                rows.append(transformer.load_rows(0, result.ntuples, tuple))
            elif result.status == pq.ExecStatus.FATAL_ERROR:
                error = error_from_result(result, encoding)
        await _ready(pgconn.socket, writing=unsent == 1)


async def _ready(fd: int, *, writing: bool) -> None:
    """Until the socket can be read, or, while something is unsent, written."""
    loop = asyncio.get_running_loop()
    ready = loop.create_future()

    def wake() -> None:
        if not ready.done():
            ready.set_result(None)

    loop.add_reader(fd, wake)
    if writing:
        loop.add_writer(fd, wake)
    try:
        await ready
    finally:
        loop.remove_reader(fd)
        if writing:
            loop.remove_writer(fd)
