"""A report of a million rows: flat memory, and statements that touch what they need and no more."""

import json
from typing import Any

import psycopg
import pytest

from crontick.jobs.kinds.report_query import Asked, ReportQuery
from crontick.jobs.kinds.settings import ReportSettings
from crontick.sql import query
from tests.reports.conftest import SALES, Reports
from tests.worlds.process import Processes

MILLION = "insert into sales select n, 'b', 1 from generate_series(1, 1000000) as n"


async def test_a_million_rows_take_no_more_memory_than_a_few(reports: Reports, processes: Processes) -> None:
    reports.say(SALES.replace("chunk_rows = 10", "chunk_rows = 20000"))
    await reports.rows(MILLION)
    run = await reports.start()
    child = processes.run("-m", "tests.reports.making", reports.url, str(reports.config))
    assert float(child.line(seconds=180)) < 64
    told = await reports.run(run)
    assert (told["status"], told["row_count"], told["parts"]) == ("succeeded", 1_000_000, 50)


async def touched(reports: Reports, text: str, values: list[Any]) -> int:
    """Pages that the statement looked at."""
    async with (
        reports.conn.transaction(force_rollback=True),
        psycopg.AsyncRawCursor(reports.conn) as cursor,
    ):
        await cursor.execute(f"explain (analyze, buffers, format json) {text}".encode(), values)
        [(plan,)] = await cursor.fetchall()
    told = plan if isinstance(plan, list) else json.loads(plan)
    return int(told[0]["Plan"]["Shared Hit Blocks"] + told[0]["Plan"]["Shared Read Blocks"])


async def test_a_part_reads_its_own_rows_only(reports: Reports) -> None:
    await reports.rows(MILLION)
    await reports.rows("analyze sales")
    report = ReportSettings(name="sales", query="select id, buyer, amount from sales", key="id")
    [(now,)] = await reports.rows("select now()")
    asks = ReportQuery(report, {})
    asked: Asked = asks.rows(now, after="900000", limit=1001, as_json=False)
    assert await touched(reports, asked.text.decode(), asked.values) < 40
    without_key = asks.row_without_key(now)
    assert await touched(reports, without_key.text.decode(), without_key.values) < 10


async def test_appending_and_streaming_touch_one_part_among_many(reports: Reports) -> None:
    await reports.rows(
        "insert into crontick.report_files"
        " (run, job, report, format, gzip, digest, parts, byte_count, started_at, progressed_at)"
        " select r, r, 'sales', 'csv', false, '', 100, 100000, now(), now() from generate_series(1, 500) as r"
    )
    await reports.rows(
        "insert into crontick.report_parts"
        " select r, p * 1000, p + 1, repeat('x', 1000)::bytea"
        " from generate_series(1, 500) as r, generate_series(0, 99) as p"
    )
    await reports.rows("vacuum analyze crontick.report_parts, crontick.report_files")
    read = query("read_report_part").text.replace("%(run)s", "$1").replace("%(at)s", "$2").replace("%(last)s", "$3")
    assert await touched(reports, read, [250, 50_500, 99_999]) < 10
    append = "select * from crontick.append_report_part(250, 101, 'abc', 1, '7', null, 8)"
    await touched(reports, append, [])  # a session's first call reads the catalogs
    assert await touched(reports, append, []) < 60
    runs = "select * from crontick.report_runs where id = 250"
    assert await touched(reports, runs, []) < 20


@pytest.mark.parametrize("last", [0, 999, 1000, 2500])
async def test_a_piece_ends_with_its_part(reports: Reports, last: int) -> None:
    await reports.rows(
        "insert into crontick.report_parts"
        " select 7, p * 1000, p + 1, repeat(chr(97 + p), 1000)::bytea from generate_series(0, 2) as p"
    )
    cursor = await reports.conn.execute(query("read_report_part").text.encode(), {"run": 7, "at": 0, "last": last})
    [(piece,)] = await cursor.fetchall()
    assert piece == b"a" * min(last + 1, 1000)
