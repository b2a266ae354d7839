"""Jobs that wait for a target cost the others nothing: what a claim and a close touch, counted."""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from crontick.sql import SCHEMA
from crontick.sql.migrate import migrate
from tests.conftest import made_database

OPEN = (
    f"select * from crontick.open_tick(%s, {SCHEMA}, 'test', '', '', 25, 40, 100, false, '{{noop}}', '',"
    " null, '', '', '')"
)
CLAIM = (
    "select id from crontick.claim(%s, %s, 20, 1, 0, 40, '{noop,call}', null, null, null, null, false, false, null,"
    " '{call}')"
)
CLOSE = "select * from crontick.close_tick(%s, %s, 1, 'empty', true, 0, '{noop,call}', null, null, null, '{1,1,1,1}')"
HELD = """
insert into crontick.unfinished_jobs (kind, queue, priority, run_at, due_at, created_at, updated_at, payload, held_by)
select 'call', 'default', 0, now(), 'infinity', now(), now(), '{}', crontick.breaker_hold('kind:call')
from generate_series(1, 100000);
insert into crontick.kinds (name, queue, priority, max_attempts, breaker, seen_at)
values ('call', 'default', 0, 5, true, now())
on conflict do nothing;
select crontick.open_breaker('kind:call', 'ann');
update crontick.breakers set retry_at = now() + interval '1 hour', look_at = now() + interval '1 hour';
"""


@pytest.fixture
def empty(server: str) -> Iterator[psycopg.Connection[Any]]:
    with made_database(server) as url:
        migrate(url, environment="test")
        with psycopg.connect(url, autocommit=True, prepare_threshold=None) as conn:
            yield conn


def touched(conn: psycopg.Connection[Any], text: str, *values: object) -> int:
    plan: Any = conn.execute(f"explain (analyze, buffers, format json) {text}".encode(), values).fetchall()[0][0]
    top = plan[0]["Plan"]
    return int(top["Shared Hit Blocks"] + top["Shared Read Blocks"])


def twenty(conn: psycopg.Connection[Any], claim: int) -> int:
    """The buffers of claiming twenty jobs and closing."""
    conn.execute("select crontick.enqueue('noop') from generate_series(1, 20)")
    conn.execute(OPEN.encode(), (claim,))
    found = touched(conn, CLAIM, claim, claim) + touched(conn, CLOSE, claim, claim)
    [row] = conn.execute("select cardinality(job_ids) from crontick.claims where claim = %s", (claim,)).fetchall()
    assert row == (20,)
    conn.execute("delete from crontick.unfinished_jobs where kind = 'noop'")
    conn.execute("vacuum crontick.unfinished_jobs")
    return found


def test_a_hundred_thousand_that_wait_for_a_target_cost_the_others_nothing(empty: psycopg.Connection[Any]) -> None:
    twenty(empty, 1)  # a new backend reads its catalogues first
    alone = twenty(empty, 2)
    empty.execute(HELD.encode())
    empty.execute("vacuum (analyze) crontick.unfinished_jobs")
    assert twenty(empty, 3) <= 1.5 * alone
