"""The runs of reports, and the bytes that they have written."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any, Final

import msgspec
import psycopg
from psycopg.rows import class_row

from crontick.jobs.connect import connect
from crontick.jobs.rights import unavailable_outside_ticks
from crontick.jobs.unavailable import Unavailable
from crontick.sql import query

__all__ = ["Run", "opened", "pieces", "read_run"]

Connection = psycopg.AsyncConnection[Any]

_PATIENCE_SECONDS: Final = 20.0
_AT_ONCE_BYTES: Final = 4 * 2**20
"""Read with one connection and then kept in memory, together with the part that goes beyond it."""


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """One run as ``crontick.report_runs`` tells of it."""

    id: int
    report: str
    status: str
    format: str
    gzip: bool
    parts: int
    row_count: int
    rows_expected: int | None
    byte_count: int
    started_at: datetime | None
    progressed_at: datetime | None
    finished_at: datetime | None
    job: int
    last_error: str | None

    @property
    def file_name(self) -> str:
        """What the file is called where it is saved."""
        return f"{self.report}-{self.id}.{self.format}{'.gz' if self.gzip else ''}"


@asynccontextmanager
async def opened(url: str | None) -> AsyncIterator[Connection]:
    """A connection to the database that has the files. Raises ``Unavailable``."""
    if url is None:
        raise Unavailable("CRONTICK_DATABASE_URL is not set")
    try:
        async with await connect(url, timeout_seconds=_PATIENCE_SECONDS) as conn:
            yield conn
    except (psycopg.Error, OSError, TimeoutError) as error:
        raise unavailable_outside_ticks(error) from None


async def read_run(conn: Connection, run: int) -> Run | None:
    """None when there is no such run, or none any more."""
    async with conn.cursor(row_factory=class_row(Run)) as cursor:
        await cursor.execute(query("read_report_run").text.encode(), {"run": run})
        return await cursor.fetchone()


async def pieces(url: str | None, run: int, first: int, last: int) -> AsyncIterator[bytes]:
    """The file's bytes from ``first`` to ``last``, some at a time; whoever takes them slowly holds no connection.

    Raises ``LookupError`` when they are not there, and ``Unavailable``.
    """
    at = first
    while at <= last:
        for piece in await _read(url, run, at, last):
            yield piece
            at += len(piece)


async def _read(url: str | None, run: int, at: int, last: int) -> list[bytes]:
    read: list[bytes] = []
    until = min(last, at + _AT_ONCE_BYTES - 1)
    async with opened(url) as conn:
        while at <= until:
            values = {"run": run, "at": at, "last": last}
            cursor = await conn.execute(query("read_report_part").text.encode(), values, binary=True)
            row = await cursor.fetchone()
            if row is None or not row[0]:
                raise LookupError(f"report run {run} has no byte {at}: its file was removed meanwhile")
            read.append(row[0])
            at += len(row[0])
    return read
