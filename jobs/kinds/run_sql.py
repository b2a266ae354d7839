"""``run_sql``: a statement that ``crontick.toml`` names, exactly once: it and the job's end are one transaction."""

from typing import Any, Final

import msgspec

from crontick.jobs.context import Context
from crontick.jobs.kind import kind
from crontick.jobs.signals import Permanent
from crontick.sql import query
from crontick.sql.wire import count_rows, encoded

__all__ = ["RunSql", "run_sql"]

_OUR_SHARE: Final = 0.5
"""Seconds of the attempt that remain for what is not the statement's: the database is to end it, not we."""


class RunSql(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The name of a ``[[sql_job]]``, and a value for each of its parameters; never a statement (P32)."""

    job: str
    parameters: dict[str, Any] = {}


@kind("run_sql", queue="slow", priority=-10, timeout=20, needs=10, max_attempts=3)
async def run_sql(payload: RunSql, ctx: Context) -> None:
    """Run the statement in a transaction of its own, with the job's success in it; the result is the count of rows."""
    # Imported here: a tick that runs no statement does not pay for it.
    from crontick.jobs.by_name import found_by_name
    from crontick.jobs.kinds.parameters import ParameterError, numbered, texts

    job = found_by_name(ctx.settings.sql_job, payload.job, "sql_job", ctx)
    text, names = numbered(job.statement, job.parameters)
    try:
        values = texts(job.parameters, payload.parameters)
    except ParameterError as error:
        raise Permanent(f"sql_job {job.name} does not take these parameters", detail=str(error)) from None
    seconds = ctx.seconds_left - _OUR_SHARE
    if job.timeout is not None:
        seconds = min(seconds, job.timeout.total_seconds())
    async with ctx.db() as conn, conn.transaction():
        await conn.execute(query("limit_statement").text.encode(), {"milliseconds": max(1, int(seconds * 1000))})
        # In the extended protocol, which refuses a second statement: that one could end the transaction.
        rows = await count_rows(conn, text.encode(), [encoded(values[name]) for name in names])
        await ctx.complete(conn, {"rows": rows})
