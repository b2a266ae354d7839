"""What the pages and the API's reads touch does not grow with the tables: counted, not timed."""

from collections.abc import Iterator
from typing import Any, Final

import msgspec
import psycopg
import pytest

from crontick.handler.front import front_door
from crontick.jobs.deployment import load_deployment
from crontick.jobs.outward_sections import AlertSettings
from crontick.sql.migrate import migrate
from tests.bench.page import requests
from tests.bench.shop import fill_shop
from tests.conftest import made_database
from tests.dashboard.asking import Asker
from tests.door.serving import SETTINGS, served
from tests.worlds.waiting import until

FINISHED: Final = 60_000
LARGE: Final = (
    *("finished_jobs", "unfinished_jobs", "attempts", "ticks", "markers", "audit_log", "reminder_records"),
    *("successes", "unique_keys"),
)
LOOKED_AT: Final = 45_000
"""Rows of a table that one page reads at most: a search looks at 20,000 jobs, twice."""


@pytest.fixture(scope="module")
def shop(server: str) -> Iterator[str]:
    with made_database(server) as url:
        migrate(url, environment="test")
        with psycopg.connect(url, autocommit=True) as conn:
            fill_shop(conn, finished=FINISHED, unfinished=10_000, ticks=5_000, others=20_000)
        yield url


def read_by(conn: psycopg.Connection[Any]) -> dict[str, tuple[int, int]]:
    """Of each table how often it was read whole, and how many rows were read, once nobody reads any more."""
    others = b"select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"
    until(lambda: not conn.execute(others).fetchall())
    text = b"select relname, seq_scan, seq_tup_read + idx_tup_fetch from pg_stat_user_tables where relname = any(%s)"
    return {name: (scans, rows) for name, scans, rows in conn.execute(text, (list(LARGE),))}


def test_no_page_and_no_read_walks_over_a_table(shop: str) -> None:
    settings = msgspec.structs.replace(SETTINGS, database_url=shop, environment="test")
    deployment = load_deployment(settings)
    walked, read_most = [], []
    with served(front_door(settings, lambda: deployment)) as address, psycopg.connect(shop, autocommit=True) as conn:
        asker = Asker(address)
        asker.log_in()
        before = read_by(conn)
        for name, ask in requests(asker, finished=FINISHED):
            assert ask().status == 200, name
            after = read_by(conn)
            walked += [(name, table) for table in LARGE if after[table][0] > before[table][0]]
            read_most += [
                (name, table, rows) for table in LARGE if (rows := after[table][1] - before[table][1]) > LOOKED_AT
            ]
            before = after
    assert walked == [], walked
    assert read_most == []


def test_looking_for_what_is_wrong_walks_over_no_table(shop: str) -> None:
    with psycopg.connect(shop, autocommit=True) as conn:
        before = read_by(conn)
        with psycopg.connect(shop, autocommit=True) as closing:
            closing.execute("set enable_seqscan = off; set enable_bitmapscan = off")  # as crontick.close_tick does
            asked = b"select c.name from crontick.alert_conditions(crontick.now(), %s) as c"
            found = {name for (name,) in closing.execute(asked, (AlertSettings(same_error=2).told(),))}
        after = read_by(conn)
    assert {"dead_letters", "same_error", "doubts", "breaker_open"} <= found
    assert {table for table in LARGE if after[table][0] > before[table][0]} == set()
    assert max(after[table][1] - before[table][1] for table in LARGE) < LOOKED_AT


EXACT: Final = "select o.queue, o.kind, o.status, o.held_by, o.jobs, o.oldest_due_at from crontick.overview as o"
COUNTED: Final = (
    "select w.queue, w.kind, w.status, w.held_by, w.jobs, w.oldest_due_at from crontick.count_work(%s, %s) as w"
)


def test_what_is_counted_is_all_or_says_that_there_is_more(shop: str) -> None:
    with psycopg.connect(shop) as conn:
        [[now]] = conn.execute("select crontick.now()").fetchall()
        exact = set(conn.execute(EXACT.encode()).fetchall())
        everything = set(conn.execute(COUNTED.encode(), (now, 1_000_000)).fetchall())
        cut = conn.execute(b"select w.* from crontick.count_work(%s, 2000) as w", (now,)).fetchall()
    assert {row[:5] for row in everything} == {row[:5] for row in exact}
    oldest = min(row[5] for row in exact if row[5] is not None)
    assert min(row[5] for row in everything if row[5] is not None) == oldest
    counts = {row[:4]: row[4] for row in exact}
    assert all(jobs == counts[*key] or (or_more and jobs < counts[*key]) for *key, jobs, or_more, _ in cut)
    assert any(or_more for *_, or_more, _ in cut)
