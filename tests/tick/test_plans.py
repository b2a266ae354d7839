"""What a tick touches does not depend on how many rows stand around it."""

import json
import re
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import psycopg
import pytest

from crontick.sql import SCHEMA
from crontick.sql.migrate import migrate
from tests.bench.rows import fill, surround
from tests.conftest import made_database

OPEN = (
    f"select * from crontick.open_tick(%s, {SCHEMA}, 'test', '', '', 25, 40, 100, false, '{{noop}}', '',"
    " null, '', '', '')"
)
CLAIM = "select id from crontick.claim(%s, %s, %s, 1, 0, 40, '{noop}', null, null, null, null, false, false)"
SETTLE = "select * from crontick.settle(%s, %s::bigint[], %s::bigint[], null, null)"
CLOSE = "select * from crontick.close_tick(%s, %s, 1, 'empty', true, 0, '{noop}', null, null, null, '{1,1,1}')"

SEALING = """
insert into crontick.unsealed select 'noop', j.id from crontick.unfinished_jobs as j limit 200;
insert into crontick.unsealed select 'noop', f.id from crontick.finished_jobs as f limit 200;
"""
UNSEALED = "select id, kind, payload from crontick.list_unsealed('{noop}', %s)"
SEAL = "select crontick.seal_jobs(%s, %s)"
FREE_SEALED = "select crontick.free_sealed('{k1,k2}', '{noop}')"


@pytest.fixture(scope="module")
def crowded(server: str) -> Iterator[psycopg.Connection[Any]]:
    """1,000,000 finished, 200,000 future, 100,000 paused and 100,000 rows of one group; and 1,000 that are due."""
    with made_database(server) as url:
        migrate(url, environment="test")
        with psycopg.connect(url, autocommit=True, prepare_threshold=None) as conn:
            surround(conn)
            fill(conn, 1000)
            conn.execute("vacuum (analyze) crontick.unfinished_jobs")
            yield conn


def buffers(conn: psycopg.Connection[Any], text: str, *values: object) -> int:
    plan: Any = conn.execute(f"explain (analyze, buffers, format json) {text}".encode(), values).fetchall()[0][0]
    top = plan[0]["Plan"]
    return int(top["Shared Hit Blocks"] + top["Shared Read Blocks"])


def exchange(conn: psycopg.Connection[Any], claim: int, seats: int) -> int:
    """The buffers of placing, claiming, looking and settling that many."""
    touched = buffers(conn, "select crontick.place()")
    touched += buffers(conn, CLAIM, 1, claim, seats)
    ids = [row[0] for row in conn.execute("select unnest(job_ids) from crontick.claims where claim = %s", (claim,))]
    assert len(ids) == seats
    touched += buffers(conn, CLOSE, 1, claim)
    return touched + buffers(conn, SETTLE, 1, ids, [claim] * len(ids))


def test_an_exchange_touches_rows_in_proportion_to_its_batch(crowded: psycopg.Connection[Any]) -> None:
    crowded.execute(OPEN.encode(), (1,))
    exchange(crowded, 10, 5)  # a new backend reads its catalogues first
    small, large = exchange(crowded, 11, 10), exchange(crowded, 12, 100)
    assert small < 1_000, "ten jobs among 1.4 million rows"
    assert large < 10_000, "a hundred jobs among 1.4 million rows"


def test_statistics_of_an_emptied_table_make_no_exchange_walk_over_it(raw_database: str) -> None:
    """A backlog that was drained and vacuumed, and the next one: the planner believes that there is one row."""
    migrate(raw_database, environment="test")
    with psycopg.connect(raw_database, autocommit=True, prepare_threshold=None) as conn:
        fill(conn, 20_000)
        conn.execute("delete from crontick.unfinished_jobs")
        conn.execute("vacuum (analyze, truncate off) crontick.unfinished_jobs")
        fill(conn, 20_000)
        conn.execute(OPEN.encode(), (1,))
        exchange(conn, 10, 5)
        before = fetched(conn)
        exchange(conn, 11, 100)
        assert fetched(conn) - before < 2_000


def fetched(conn: psycopg.Connection[Any]) -> int:
    """Rows of unfinished jobs that indexes led to so far."""
    conn.execute("select pg_stat_force_next_flush()")
    asked = "select idx_tup_fetch from pg_stat_user_tables where relname = 'unfinished_jobs'"
    [[rows]] = conn.execute(asked.encode()).fetchall()
    return int(rows)


def test_no_statement_of_a_tick_scans_or_sorts_a_table_of_jobs(crowded: psycopg.Connection[Any]) -> None:
    plans: list[str] = []
    crowded.execute(SEALING.encode())
    crowded.add_notice_handler(lambda notice: plans.append(notice.message_primary or ""))
    crowded.execute(
        "load 'auto_explain'; set auto_explain.log_min_duration = 0; set auto_explain.log_nested_statements = on;"
        " set client_min_messages = log"
    )
    crowded.execute(OPEN.encode(), (2,))
    crowded.execute("select crontick.place()")
    crowded.execute(CLAIM.encode(), (2, 20, 20))
    ids = [row[0] for row in crowded.execute("select unnest(job_ids) from crontick.claims where claim = 20")]
    crowded.execute(CLOSE.encode(), (2, 20))
    crowded.execute(SETTLE.encode(), (2, ids, [20] * len(ids)))
    crowded.execute(FREE_SEALED.encode())
    found = crowded.execute(UNSEALED.encode(), (300,)).fetchall()
    told = [{"id": job, "kind": name, "digest": sha256(text.encode()).hexdigest()} for job, name, text in found]
    [sealed] = crowded.execute(SEAL.encode(), (2, json.dumps(told))).fetchall()[0]
    assert sorted(sealed) == [job for job, _, _ in found]
    whole = "\n".join(plans)
    assert "unfinished_jobs_due" in whole
    assert not re.findall(r"Seq Scan on (?:unfinished|finished)_jobs.*", whole)
    sorts = re.findall(r"Sort .*rows=(\d+)", whole)
    assert all(int(rows) <= 1000 for rows in sorts), "a sort of the lanes, not of a table"
