"""A tick that is killed in each gap of the protocol, and what holds afterwards."""

import psycopg
import pytest

from crontick.jobs.process import run_tick
from crontick.jobs.request import TickRequest
from crontick.jobs.summary import Summary
from tests.tick.kinds import RUNS, TICK, count, deployment, die, hang, hang_in_complete, noop, send
from tests.worlds.process import Processes
from tests.worlds.waiting import async_until

pytestmark = pytest.mark.anyio
Conn = psycopg.AsyncConnection[tuple[object, ...]]


async def later(database: str, conn: Conn) -> Summary:
    """A tick after every lease."""
    await conn.execute("update crontick.test_clock set ahead = ahead + interval '1 hour'")
    return await run_tick(deployment(database), TickRequest())


async def one(conn: Conn, text: str, *values: object) -> object:
    row = await (await conn.execute(text.encode(), values)).fetchone()
    return None if row is None else row[0]


async def status(conn: Conn, job: int) -> object:
    return await one(conn, "select status from crontick.jobs where id = %s", job)


async def test_a_job_survives_the_death_of_its_tick(database: str, conn: Conn, processes: Processes) -> None:
    neighbours = await noop.enqueue_many(conn, [{}] * 3)
    job = await hang.enqueue(conn, {})
    tick = processes.start(TICK, database, "20")
    tick.line()
    tick.kill()
    died = await one(conn, "select ended_at is null from crontick.ticks order by id desc limit 1")
    assert died is True, "a killed tick shows as one that did not end"
    await conn.execute("select crontick.cancel(%s, 'test')", (job,))
    summary = await later(database, conn)
    assert summary.rescued >= 1
    assert [await status(conn, n) for n in neighbours] == ["succeeded"] * 3
    assert await status(conn, job) == "cancelled", "it was asked to stop, so it is not run again"


async def test_a_job_that_kills_its_process_takes_no_neighbour_along_twice(
    database: str, conn: Conn, processes: Processes
) -> None:
    await conn.execute(RUNS)
    poison = await die.enqueue(conn, {}, priority=1)
    innocent = await count.enqueue_many(conn, [{}] * 19)
    for _ in range(6):
        processes.start(TICK, database, "20").wait()
        await conn.execute("update crontick.test_clock set ahead = ahead + interval '1 hour'")
    await later(database, conn)
    assert await status(conn, poison) == "dead"
    assert "while it ran alone" in str(await one(conn, "select last_error from crontick.jobs where id = %s", poison))
    assert [await status(conn, job) for job in innocent] == ["succeeded"] * 19
    assert await one(conn, "select count(*) from crontick.attempts where job = %s", poison) == 3


@pytest.mark.parametrize("committed", [True, False])
async def test_complete_decides_whatever_becomes_of_the_process(
    database: str, conn: Conn, processes: Processes, *, committed: bool
) -> None:
    await conn.execute(RUNS)
    job = await hang_in_complete.enqueue(conn, {"committed": committed})
    tick = processes.start(TICK, database, "20")
    tick.line()
    tick.kill()
    await async_until(lambda: one(conn, "select count(*) = 1 from pg_stat_activity where datname = current_database()"))
    assert await one(conn, "select count(*) from public.runs") == (1 if committed else 0)
    assert await status(conn, job) == ("succeeded" if committed else "running")
    await conn.execute("update crontick.test_clock set ahead = '1 hour'")
    await run_tick(deployment(database), TickRequest(kinds=("noop",)))
    assert await status(conn, job) == ("succeeded" if committed else "queued")
    assert await one(conn, "select count(*) from crontick.claims") == 0


async def test_a_send_without_a_settle_is_in_doubt_until_somebody_decides(
    database: str, conn: Conn, processes: Processes
) -> None:
    job = await send.enqueue(conn, {"key": "receipt:1", "hang": "yes"})
    tick = processes.start(TICK, database, "20")
    tick.line()
    tick.kill()
    summary = await later(database, conn)
    assert (summary.dead, summary.succeeded) == (1, 0), "never silently sent again"
    assert await status(conn, job) == "dead"
    assert await one(conn, "select key from crontick.doubts") == "receipt:1"
    with pytest.raises(psycopg.Error, match="dead in doubt"):
        await conn.execute("select crontick.requeue(%s, 'test')", (job,))
    await conn.execute("select crontick.resolve_doubt('send', 'receipt:1', 'sent', 'test')")
    assert await one(conn, "select resolution from crontick.jobs where id = %s", job) == "sent"


async def test_a_killed_tick_frees_its_slot_by_itself(database: str, conn: Conn, processes: Processes) -> None:
    await hang.enqueue(conn, {})
    tick = processes.start(TICK, database, "20")
    tick.line()
    tick.kill()
    busy = await run_tick(deployment(database, max_parallel_ticks=1), TickRequest())
    assert busy.not_run == "busy"
    await conn.execute("update crontick.test_clock set ahead = '1 hour'")
    free = await run_tick(deployment(database, max_parallel_ticks=1), TickRequest(kinds=("noop",)))
    assert free.not_run is None
