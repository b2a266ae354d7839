"""What a claim touches does not depend on how many jobs wait for a group, a pause, a kind or a limit."""

from collections.abc import Iterator
from itertools import count
from typing import Any

import psycopg
import pytest

from crontick.sql import SCHEMA
from crontick.sql.migrate import migrate
from tests.conftest import made_database

LIMITS = (
    '[{"name": "tenant", "kinds": ["held", "mine"], "path": ["tenant"], "concurrency": 1, "said": "1 at a time"},'
    ' {"name": "slow", "queue": "slow", "spacing_us": 86400000000, "burst": 1, "said": "1 a day"}]'
)
OPEN = "select crontick.open_tick(1, %s, 'test', '', '', 25, 40, 4, false, '{noop,mine}', '', null, '', '', '')"
CLAIM = "select id from crontick.claim(1, %s, 10, 1, 0, 40, '{noop,mine}', null, null, null, null, false, false, %s)"
ROWS = """
insert into crontick.unfinished_jobs
    (kind, queue, priority, run_at, due_at, created_at, updated_at, payload, held_by, group_digest, in_line)
select {kind}, {queue}, 0, now() - interval '1 day', {due_at}, now(), now(), '{{}}', {held_by}, {digest},
    {digest} is not null
from generate_series(1, 100000) as n
"""
HELD = {"kind": "'held'", "queue": "'default'", "due_at": "'infinity'", "digest": "null", "held_by": "null"}
LINES = """
insert into crontick.limit_lines (hold, limit_name, key, said, tat, look_at)
select 'limit:{name}:' || md5({key}), '{name}', '', '{said}', now(), {look_at} from generate_series(1, {lines}) as n
"""
WAITING = {
    "blocked": [ROWS.format(**{**HELD, "held_by": "'group'", "digest": "'g'::bytea"})],
    "paused": [
        "select crontick.pause('queue', 'still', 'ann')",
        ROWS.format(**{**HELD, "queue": "'still'", "due_at": "now()"}),
    ],
    "of an unknown kind": [ROWS.format(**{**HELD, "kind": "'else'", "held_by": "'kind'"})],
    "in one line": [
        LINES.format(name="slow", key="''", said="1 a day", look_at="now() + interval '1 day'", lines=1),
        ROWS.format(**{**HELD, "held_by": "'limit:slow:' || md5('')"}),
    ],
    "in a hundred thousand lines": [
        LINES.format(name="slow", key="n::text", said="1 a day", look_at="now() + interval '1 day'", lines=100000),
        ROWS.format(**{**HELD, "held_by": "'limit:slow:' || md5(n::text)"}),
    ],
}


@pytest.fixture
def empty(server: str) -> Iterator[psycopg.Connection[Any]]:
    with made_database(server) as url:
        migrate(url, environment="test")
        with psycopg.connect(url, autocommit=True, prepare_threshold=None) as conn:
            conn.execute(OPEN.encode(), (SCHEMA,))
            yield conn


def touched(conn: psycopg.Connection[Any], claims: Iterator[int], kind: str) -> int:
    """The buffers of a claim of ten jobs, the least of three."""
    found: list[int] = []
    for _ in range(3):
        conn.execute(
            "select crontick.enqueue(%s, jsonb_build_object('tenant', n)) from generate_series(1, 10) as n", (kind,)
        )
        conn.execute("analyze crontick.unfinished_jobs")
        told = conn.execute(f"explain (analyze, buffers, format json) {CLAIM}".encode(), (next(claims), LIMITS))
        [[plan]] = told.fetchall()
        assert plan[0]["Plan"]["Actual Rows"] == 10
        found.append(plan[0]["Plan"]["Shared Hit Blocks"] + plan[0]["Plan"]["Shared Read Blocks"])
        conn.execute("delete from crontick.unfinished_jobs where status = 'running'")
        conn.execute("delete from crontick.claims")
        conn.execute("vacuum crontick.unfinished_jobs, crontick.limit_lines, crontick.ticks, crontick.claims")
    return min(found)


@pytest.mark.parametrize("waiting", WAITING)
@pytest.mark.parametrize("kind", ["noop", "mine"])
def test_a_claim_touches_no_more_for_a_hundred_thousand_that_wait(
    empty: psycopg.Connection[Any], waiting: str, kind: str
) -> None:
    claims = count(1)
    touched(empty, claims, kind)  # a new backend reads its catalogues first
    alone = touched(empty, claims, kind)
    for statement in WAITING[waiting]:
        empty.execute(statement.encode())
    empty.execute("vacuum (analyze) crontick.unfinished_jobs, crontick.limit_lines")
    touched(empty, claims, kind)
    assert touched(empty, claims, kind) <= 1.5 * alone
