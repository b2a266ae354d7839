"""A tick is killed in each gap of a part, or beside another: the file is that of a run that nothing happened to."""

import asyncio

import pytest

from tests.reports.conftest import Reports
from tests.worlds.process import Child, Processes
from tests.worlds.waiting import async_until

ROWS = 45
HOLD = """
create function public.hold() returns trigger language plpgsql as
$$ begin perform pg_advisory_xact_lock(42); return new; end $$;
"""
GAPS = {
    "the query was read, and the next part is being enqueued": (
        "create trigger hold before insert on crontick.unfinished_jobs for each row"
        " when (new.payload ->> 'part' = '3') execute function public.hold()"
    ),
    "the next part is enqueued, and this one is being appended": (
        "create trigger hold before insert on crontick.report_parts for each row"
        " when (new.part = 2) execute function public.hold()"
    ),
    "this part is appended, and its job is being completed": (
        "create trigger hold before insert on crontick.finished_jobs for each row"
        " when (new.payload ->> 'part' = '2') execute function public.hold()"
    ),
    "all is done, and not yet committed": (
        "create constraint trigger hold after insert on crontick.report_parts deferrable initially deferred"
        " for each row when (new.part = 2) execute function public.hold()"
    ),
}
BLOCKED = "select pid from pg_locks where locktype = 'advisory' and objid = 42 and not granted"


def tick_apart(reports: Reports, processes: Processes, around: str = "") -> Child:
    return processes.run("-m", "tests.reports.ticking", reports.url, str(reports.config), around)


async def held(reports: Reports, processes: Processes, gap: str) -> tuple[int, Child, int]:
    """A run whose tick, in another process, stands in that gap; and the process of its database session."""
    await reports.sell(*range(1, ROWS + 1))
    await reports.rows(HOLD)
    await reports.rows(GAPS[gap])
    await reports.rows("select pg_advisory_lock(42)")
    run = await reports.start()
    child = tick_apart(reports, processes)
    [(session,)] = await async_until(lambda: reports.rows(BLOCKED), seconds=30)
    return run, child, session


async def as_if_nothing_had_happened(reports: Reports, run: int, *, attempts: int) -> None:
    """The rest of the run's ticks, and its file beside that of another run."""
    await reports.later("2 minutes")
    for _ in range(3):
        await reports.tick()
    told = await reports.run(run)
    assert (told["status"], told["row_count"], told["parts"]) == ("succeeded", ROWS, 5)
    assert await reports.rows("select sum(attempt) from crontick.jobs") == [(attempts,)]
    other = await reports.start()
    await reports.tick()
    assert await reports.content(run) == await reports.content(other)
    assert told["byte_count"] == len(await reports.content(run))


async def test_killed_while_it_reads_nothing_was_written(reports: Reports, processes: Processes) -> None:
    await reports.sell(*range(1, ROWS + 1))
    run = await reports.start()
    async with reports.conn.transaction():
        await reports.rows("lock table sales in access exclusive mode")
        child = tick_apart(reports, processes)
        waits = "select pid from pg_locks where relation = 'sales'::regclass and not granted"
        [(session,)] = await async_until(lambda: reports.rows(waits), seconds=30)
        child.kill()
        await reports.rows("select pg_terminate_backend(%s, 10000)", session)
    assert (await reports.run(run))["parts"] == 0
    await as_if_nothing_had_happened(reports, run, attempts=6)


@pytest.mark.parametrize("gap", GAPS)
async def test_killed_before_the_commit_one_part_is_made_again(
    reports: Reports, processes: Processes, gap: str
) -> None:
    run, child, session = await held(reports, processes, gap)
    child.kill()
    await reports.rows("select pg_terminate_backend(%s, 10000)", session)
    await reports.rows("select pg_advisory_unlock(42)")
    assert (await reports.run(run))["parts"] == 1
    await as_if_nothing_had_happened(reports, run, attempts=6)


async def test_killed_while_the_server_commits_the_part_counts(reports: Reports, processes: Processes) -> None:
    run, child, _ = await held(reports, processes, "all is done, and not yet committed")
    child.kill()
    await reports.rows("select pg_advisory_unlock(42)")
    await async_until(lambda: reports.rows("select part from crontick.report_parts where part = 2"))
    await as_if_nothing_had_happened(reports, run, attempts=5)


async def test_killed_after_the_commit_before_the_settle_the_part_counts(
    reports: Reports, processes: Processes
) -> None:
    await reports.sell(*range(1, ROWS + 1))
    run = await reports.start()
    child = tick_apart(reports, processes, "tests.reports.ticking:lingering")
    assert child.line() == "committed"
    child.kill()
    assert (await reports.run(run))["parts"] == 2
    await as_if_nothing_had_happened(reports, run, attempts=5)


async def test_a_tick_beside_one_that_makes_a_part_leaves_the_run_alone(reports: Reports, processes: Processes) -> None:
    run, child, _ = await held(reports, processes, "this part is appended, and its job is being completed")
    assert (await reports.tick()).claimed == 0
    await reports.rows("select pg_advisory_unlock(42)")
    assert child.line() == "ended 5"
    await as_if_nothing_had_happened(reports, run, attempts=5)


async def test_two_ticks_at_once_make_each_part_once(reports: Reports) -> None:
    await reports.sell(*range(1, ROWS + 1))
    run = await reports.start()
    await asyncio.gather(*(reports.tick() for _ in range(2)))
    await as_if_nothing_had_happened(reports, run, attempts=5)
