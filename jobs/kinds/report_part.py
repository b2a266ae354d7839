"""One part of a report's run: read, then appended in the transaction that ends its job and enqueues the next."""

from datetime import datetime
from typing import Any, Final

import msgspec
import psycopg

from crontick.jobs.context import Context
from crontick.jobs.kinds.generate_report import GenerateReport
from crontick.jobs.kinds.parameters import ParameterError
from crontick.jobs.kinds.report_query import Asked, ReportQuery
from crontick.jobs.kinds.report_rows import KeyFault, Part, Shape, read_part
from crontick.jobs.kinds.settings import ReportSettings
from crontick.jobs.signals import Cancel, Permanent, Retry
from crontick.sql import query

__all__ = ["make_part"]

Connection = psycopg.AsyncConnection[Any]

_OUR_SHARE: Final = 2.0
"""Seconds of the attempt that remain for what comes after the query."""
_TIMED_OUT: Final = "57014"
_MENDS_ITSELF: Final = ("08", "40", "53", "55", "57", "58", "XX")
"""SQLSTATE classes of a database in trouble: lost connections, locks, limits, a restart."""


class _File(msgspec.Struct, frozen=True, array_like=True):
    """What the run has written before this part."""

    parts: int
    last_key: str | None
    digest: str
    started_at: datetime
    now: datetime


async def make_part(payload: GenerateReport, report: ReportSettings, ctx: Context) -> None:
    """Raises ``Permanent`` for what another attempt would meet again, ``Cancel`` for a part that is there already."""
    try:
        asks = ReportQuery(report, payload.parameters)
    except ParameterError as error:
        raise Permanent(f"report {report.name} does not take these parameters", detail=str(error)) from None
    file_format, run = payload.format or report.format, payload.run or ctx.job.lineage
    shape = Shape(as_json=file_format == "jsonl", gzip=payload.gzip, header=payload.part == 1)
    begins = {
        "job": ctx.job.id,
        "run": run,
        "part": payload.part,
        "report": report.name,
        "format": file_format,
        "gzip": payload.gzip,
        "digest": asks.digest(file_format, gzip=payload.gzip),
    }
    async with ctx.db() as conn:
        file = await _begin(conn, begins)
        try:
            part, expected = await _read(conn, ctx, asks, (file, shape, report.chunk_rows))
        except KeyFault as fault:
            raise Permanent(
                f"report {report.name} has no key that is unique and never null", detail=str(fault)
            ) from None
        except psycopg.Error as error:
            raise _judged(error, report, ctx) from None
        appends = {
            "run": run,
            "part": payload.part,
            "content": part.content,
            "row_count": part.row_count,
            "last_key": part.last_key,
            "rows_expected": expected,
            "next_job": None,
        }
        async with conn.transaction():
            if not part.last:
                follower = msgspec.structs.replace(payload, run=run, part=payload.part + 1)
                appends["next_job"] = await _enqueue(conn, ctx, follower, file.now + report.expires)
            await _append(conn, ctx, appends)


async def _begin(conn: Connection, begins: dict[str, Any]) -> _File:
    found = await (await conn.execute(query("begin_report_part").text.encode(), begins)).fetchall()
    run, part = begins["run"], begins["part"]
    if not found:
        raise Permanent(f"report run {run} is not there any more: enqueue the report afresh")
    file = _File(*found[0])
    if file.digest != begins["digest"]:
        raise Permanent(f"report {begins['report']} was changed while run {run} was made: enqueue it afresh")
    if file.parts >= part:
        raise Cancel(f"part {part} of report run {run} is there already")
    return file


async def _read(
    conn: Connection, ctx: Context, asks: ReportQuery, wanted: tuple[_File, Shape, int]
) -> tuple[Part, int | None]:
    """The part; with the first, how many rows the planner expects in all."""
    file, shape, row_limit = wanted
    seconds = max(ctx.seconds_left - _OUR_SHARE, 1.0)
    expected = None
    async with conn.transaction():
        bounds = {"statement_timeout_ms": str(int(seconds * 1000))}
        await conn.execute(query("bound_report").text.encode(), bounds)
        if file.parts == 0:
            [(plan,)] = await _ask(conn, asks.estimate(file.started_at))
            expected = int(plan[0]["Plan"]["Plan Rows"])
            if await _ask(conn, asks.row_without_key(file.started_at)):
                raise KeyFault("it is null in a row, which would be in no part")
        rows = asks.rows(file.started_at, after=file.last_key, limit=row_limit + 1, as_json=shape.as_json)
        # Half of what is left: a part that is short of time is appended as it is, and the next goes on behind it.
        part = await read_part(conn, rows, shape, row_limit=row_limit, seconds=seconds / 2)
    return part, expected


async def _ask(conn: Connection, asked: Asked) -> list[tuple[Any, ...]]:
    async with psycopg.AsyncRawCursor(conn) as cursor:
        await cursor.execute(asked.text, asked.values)
        return await cursor.fetchall()


async def _enqueue(conn: Connection, ctx: Context, follower: GenerateReport, expires_at: datetime) -> int:
    job: int = await ctx.enqueue(
        ctx.kind,
        follower,
        conn=conn,
        expires_at=expires_at,
        queue=ctx.job.queue,
        priority=ctx.job.priority,
        group_key=ctx.job.group_key,
    )
    return job


async def _append(conn: Connection, ctx: Context, appends: dict[str, Any]) -> None:
    cursor = await conn.execute(query("append_report_part").text.encode(), appends)
    [(row_count, rows_expected, _)] = await cursor.fetchall()
    told = {"run": appends["run"], "part": appends["part"], "rows": row_count, "rows_expected": rows_expected}
    await ctx.complete(conn, told)


def _judged(error: psycopg.Error, report: ReportSettings, ctx: Context) -> BaseException:
    state = error.sqlstate or ""
    if state == _TIMED_OUT:
        seconds = ctx.kind.timeout_seconds
        return Retry(
            f"report {report.name}: its query takes longer than an attempt may ({seconds:g} s):"
            f" index {report.key}, lower chunk_rows, or raise the timeout in [kinds.{ctx.kind.name}]"
        )
    if not state or state.startswith(_MENDS_ITSELF):
        return error
    said = error.diag.message_primary or ""
    return Permanent(f"the query of report {report.name} fails ({state})", detail=said)
