"""A statement that the configuration names runs exactly once, with its job's end in the same transaction."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from crontick.jobs.kinds.run_sql import RunSql, run_sql
from crontick.jobs.payload import PayloadError
from tests.kinds.conftest import Deployed
from tests.kinds.ticking import ticking
from tests.worlds.process import Processes
from tests.worlds.waiting import async_until

IN_SQL = {"integer": "bigint", "number": "numeric", "timestamp": "timestamptz", "json": "jsonb"}
PURGE = """
[[sql_job]]
name = "purge"
statement = "with gone as (delete from carts where id <= :last returning id) insert into purged select id from gone"
parameters = { last = "integer" }
"""


def job(statement: str, parameters: str = "", more: str = "") -> str:
    return f'[[sql_job]]\nname = "one"\nstatement = """{statement}"""\nparameters = {{ {parameters} }}\n{more}\n'


@pytest.fixture
def carts(deploy: Callable[[str], Deployed], sync_conn: psycopg.Connection[Any]) -> Callable[[str], Deployed]:
    sync_conn.execute("create table carts as select generate_series(1, 5) as id")
    sync_conn.execute("create table purged (id integer)")
    return deploy


async def ran(deployed: Deployed, payload: RunSql) -> dict[str, Any]:
    """What became of a job that ran once."""
    made = await deployed.enqueue(run_sql, payload)
    await deployed.tick()
    return await deployed.job(made)


async def rows(deployed: Deployed, text: str) -> list[tuple[Any, ...]]:
    return await (await deployed.conn.execute(text.encode())).fetchall()


async def test_the_result_is_the_count_of_rows(carts: Callable[[str], Deployed]) -> None:
    deployed = carts(PURGE)
    await deployed.tick()
    made = await deployed.enqueue(run_sql, RunSql(job="purge", parameters={"last": 3}))
    summary = await deployed.tick()
    found = await deployed.job(made)
    assert (found["status"], found["result"]) == ("succeeded", {"rows": 3})
    assert (found["queue"], found["priority"]) == ("slow", -10)
    assert (summary.succeeded, summary.lost) == (1, 0)
    assert await rows(deployed, "select count(*) from carts") == [(2,)]


@pytest.mark.parametrize(
    ("wanted", "value", "stored"),
    [
        ("text", "it's 100% $1 :x", "it's 100% $1 :x"),
        ("text", None, None),
        ("integer", -(2**62), str(-(2**62))),
        ("number", 2.5, "2.5"),
        ("number", 7, "7"),
        ("boolean", False, "false"),
        ("date", "2026-11-30", "2026-11-30"),
        ("timestamp", "2026-11-30T09:00:00+01:00", "2026-11-30 08:00:00+00"),
        ("interval", "30 days", "30 days"),
        ("uuid", "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"),
        ("json", {"a": [1, None]}, '{"a": [1, null]}'),
        ("json", True, "true"),
    ],
)
async def test_a_parameter_arrives_as_its_type(
    deploy: Callable[[str], Deployed], sync_conn: psycopg.Connection[Any], wanted: str, value: object, stored: str
) -> None:
    sync_conn.execute(f"create table kept (value {IN_SQL.get(wanted, wanted)})".encode())
    statement = "insert into kept select :value where :value is not distinct from :value"
    deployed = deploy(job(statement, f'value = "{wanted}"'))
    await deployed.conn.execute("set timezone to 'UTC'")
    found = await ran(deployed, RunSql(job="one", parameters={"value": value}))
    assert (found["status"], found["result"]) == ("succeeded", {"rows": 1})
    assert await rows(deployed, "select value::text from kept") == [(stored,)]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "sql_job one does not take these parameters: parameter last is missing: it takes last (integer)"),
        ({"last": 1, "first": 2}, "there is no parameter 'first'"),
        ({"last": "1; drop table carts"}, "parameter last is not of type integer"),
        ({"last": True}, "parameter last is not of type integer"),
        ({"last": 1.5}, "parameter last is not of type integer"),
    ],
)
async def test_parameters_that_do_not_fit_are_dead_at_once(
    carts: Callable[[str], Deployed], given: dict[str, Any], said: str
) -> None:
    deployed = carts(job("delete from carts where id <= :last", 'last = "integer"'))
    found = await ran(deployed, RunSql(job="one", parameters=given))
    assert found["status"] == "dead"
    assert said in found["last_error"]
    assert await rows(deployed, "select count(*) from carts") == [(5,)]


@pytest.mark.parametrize(
    ("statement", "rows_told"),
    [
        ("select * from carts", 5),
        ("values (1), (2)", 2),
        ("select id from carts where false", 0),
        ("delete from carts returning id", 5),
        ("update carts set id = id", 5),
        ("create table more (id integer)", None),
    ],
)
async def test_rows_are_counted_whether_changed_or_returned(
    carts: Callable[[str], Deployed], statement: str, rows_told: int | None
) -> None:
    found = await ran(carts(job(statement)), RunSql(job="one"))
    assert (found["status"], found["result"]) == ("succeeded", {"rows": rows_told})


async def test_what_a_statement_returns_fills_no_memory(
    deploy: Callable[[str], Deployed], processes: Processes, tmp_path: Path
) -> None:
    deployed = deploy(job("select repeat('x', 1000) from generate_series(1, :count)", 'count = "integer"'))
    small, large = [
        await deployed.enqueue(run_sql, RunSql(job="one", parameters={"count": count})) for count in (1, 60_000)
    ]
    grown = ticking(processes, deployed, tmp_path, limit=1)
    assert float(grown.line(seconds=120)) < 16
    assert [(await deployed.job(made))["result"] for made in (small, large)] == [{"rows": 1}, {"rows": 60_000}]


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("copy carts to stdout", "not COPY_OUT"),
        ("select 1/0", "DivisionByZero"),
        ("select 1 / (id - 3) from carts", "DivisionByZero"),
        ("select pg_sleep(60)", "statement timeout"),
        ("delete from nowhere", "UndefinedTable"),
        ("delete from carts; delete from carts", "cannot insert multiple commands"),
    ],
)
async def test_a_statement_that_fails_is_tried_again_and_nothing_of_it_stays(
    carts: Callable[[str], Deployed], statement: str, said: str
) -> None:
    deployed = carts(job(statement, more='timeout = "1s"'))
    found = await ran(deployed, RunSql(job="one"))
    assert found["status"] == "failed"
    assert said in found["last_error"]
    assert await rows(deployed, "select count(*) from carts") == [(5,)]


async def test_the_limit_of_a_statement_ends_with_its_transaction(carts: Callable[[str], Deployed]) -> None:
    limit = "insert into purged select (extract(epoch from current_setting('statement_timeout')::interval))::int"
    deployed = carts(f'{job(limit, more="timeout = 3")}[[sql_job]]\nname = "two"\nstatement = """{limit}"""\n')
    await ran(deployed, RunSql(job="one"))
    await ran(deployed, RunSql(job="two"))
    assert [row[0] for row in await rows(deployed, "select id from purged order by id")] == [3, 19]


async def test_a_job_whose_name_is_not_known_yet_waits_for_one_deploy(deploy: Callable[[str], Deployed]) -> None:
    deployed = deploy(PURGE)
    made = await deployed.enqueue(run_sql, RunSql(job="purgee", parameters={"last": 1}))
    await deployed.tick()
    said = "crontick.toml has no such [[sql_job]]: purgee (did you mean purge?)"
    found = await deployed.job(made)
    assert (found["status"], found["last_error"]) == ("failed", f"Retry: {said}")
    assert 250 < await deployed.seconds_until(made) <= 300
    await deployed.later(timedelta(seconds=301))
    await deployed.tick()
    found = await deployed.job(made)
    assert (found["status"], found["last_error"]) == ("dead", f"Permanent: {said}")


def test_a_payload_has_no_room_for_a_statement() -> None:
    with pytest.raises(PayloadError):
        run_sql.order({"job": "purge", "statement": "drop table carts"})  # type: ignore[arg-type]


async def test_killed_while_the_statement_runs_nothing_was_done(
    carts: Callable[[str], Deployed], processes: Processes, tmp_path: Path, sync_conn: psycopg.Connection[Any]
) -> None:
    deployed = carts(PURGE)
    made = await deployed.enqueue(run_sql, RunSql(job="purge", parameters={"last": 5}))
    with sync_conn.transaction():
        sync_conn.execute("lock table purged in share mode")
        child = ticking(processes, deployed, tmp_path)
        holder = sync_conn.info.backend_pid
        await async_until(lambda: _waits_for(deployed, holder))
        child.kill()
    await async_until(lambda: _alone(deployed))
    assert await rows(deployed, "select count(*) from purged") == [(0,)]
    await deployed.conn.execute("update crontick.test_clock set ahead = ahead + interval '1 hour'")
    assert (await deployed.tick()).rescued == 1
    assert (await deployed.job(made))["result"] == {"rows": 5}
    assert await rows(deployed, "select count(*) from purged") == [(5,)]


async def test_killed_between_the_commit_and_the_settle_it_ran_once(
    carts: Callable[[str], Deployed], processes: Processes, tmp_path: Path, sync_conn: psycopg.Connection[Any]
) -> None:
    deployed = carts(PURGE)
    made = await deployed.enqueue(run_sql, RunSql(job="purge", parameters={"last": 5}))
    sync_conn.execute("begin")
    sync_conn.execute("lock table purged in share mode")
    child = ticking(processes, deployed, tmp_path)
    holder = sync_conn.info.backend_pid
    await async_until(lambda: _waits_for(deployed, holder))
    async with deployed.conn.transaction():
        await deployed.conn.execute("lock table crontick.ticks in share mode")  # the settle counts in the tick's row
        sync_conn.execute("commit")
        await async_until(lambda: _succeeded(deployed, made))
        child.kill()
    await async_until(lambda: _alone(deployed))
    await deployed.conn.execute("update crontick.test_clock set ahead = ahead + interval '1 hour'")
    summary = await deployed.tick()
    assert (summary.claimed, summary.rescued) == (0, 0)
    assert await rows(deployed, "select count(*) from purged") == [(5,)]


async def _waits_for(deployed: Deployed, holder: int) -> bool:
    [[found]] = await rows(
        deployed, f"select exists (select from pg_stat_activity where {holder} = any(pg_blocking_pids(pid)))"
    )
    return bool(found)


async def _alone(deployed: Deployed) -> bool:
    """Whether the database has noticed that the killed tick's connections are gone."""
    text = "select count(*) from pg_stat_activity where application_name = 'crontick' and datname = current_database()"
    return await rows(deployed, text) == [(0,)]


async def _succeeded(deployed: Deployed, made: int) -> bool:
    return bool((await deployed.job(made))["status"] == "succeeded")
