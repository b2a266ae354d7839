"""A week of real ticks: what the plan says of its history is what the ticks and the jobs say."""

from datetime import datetime, timedelta

import psycopg
import pytest
from psycopg.rows import dict_row

from crontick.handler.plan.cadence import Cadence, awake, delays, wakes
from crontick.handler.plan.history import History, read_history
from crontick.jobs.wake.alarm import alarm_for
from tests.plan.conftest import WEEK_ENDS, WEEK_STARTS, Week, note

pytestmark = pytest.mark.anyio
TWO_HOURLY = Cadence("120 min", timedelta(hours=2))
TICKLESS = Cadence("wake", timedelta(days=1), alarms=True)
STAYS_UP = timedelta(minutes=5)
MINUTE = timedelta(minutes=1)
Enqueued = tuple[datetime, datetime, int]


def of_the_week() -> list[Enqueued]:
    """When jobs are enqueued, when they are due, and how many: crowds, neighbours, and what is due at once."""
    ahead = [(hour * 3.7, hour * 3.7 + 11, 1 + hour % 3) for hour in range(40)]
    near = [(100, 120, 2), (100, 120 + 20 / 3600, 1), (100, 120 + 90 / 3600, 1), (100, 140 + 119 / 3600, 5)]
    at_once = [(nth * 9.13 + 0.4, nth * 9.13 + 0.4, 1) for nth in range(17)]
    hours = sorted([*ahead, *near, *at_once])
    return [(_at(enqueued), _at(due), jobs) for enqueued, due, jobs in hours]


def _at(hours: float) -> datetime:
    return WEEK_STARTS + timedelta(seconds=round(hours * 3600))


async def test_a_tick_every_two_hours_is_as_the_plan_says(week: Week) -> None:
    to_come = of_the_week()
    for hour in range(0, 168, 2):
        at = WEEK_STARTS + timedelta(hours=hour)
        while to_come and to_come[0][0] <= at:
            await _enqueue(week, *to_come.pop(0))
        await week.at(at)
        await week.tick(note)
    await agrees(week, TWO_HOURLY)


async def test_a_tick_at_the_next_due_time_is_as_the_plan_says(week: Week) -> None:
    to_come = of_the_week()
    alarms = {WEEK_STARTS + timedelta(days=day) for day in range(7)}
    while alarms:
        at = min(alarms)
        if to_come and to_come[0][0] < at:
            enqueued, due, jobs = to_come.pop(0)
            await _enqueue(week, enqueued, due, jobs)
            if due == enqueued:
                alarms.add(alarm_for(due, now=enqueued, precision=MINUTE).at)
            continue
        alarms.remove(at)
        await week.at(at)
        summary = await week.tick(note)
        if summary.next_due_at is not None:
            alarms.add(alarm_for(summary.next_due_at, now=at, precision=MINUTE).at)
    await agrees(week, TICKLESS)


async def _enqueue(week: Week, enqueued: datetime, due: datetime, jobs: int) -> None:
    await week.at(enqueued)
    await week.enqueue(due, jobs)


async def agrees(week: Week, cadence: Cadence) -> None:
    """The plan's figures of the history in the tables are those of the ticks in the tables."""
    history = await remembered(week)
    assert (history.starts_at, history.ends_at) == (WEEK_STARTS, WEEK_ENDS)
    assert history.jobs == sum(jobs for _, _, jobs in of_the_week())
    planned = wakes(history, cadence)
    assert await week.rows("select started_at, claimed from crontick.ticks order by id") == [
        (one.at, one.jobs) for one in planned
    ]
    [waited] = await week.rows(
        "select avg(started_at - run_at), percentile_disc(0.95) within group (order by started_at - run_at),"
        " max(started_at - run_at) from crontick.jobs"
    )
    said = delays(history, cadence)
    assert (said.mean, said.p95, said.worst) == waited
    up = await week.one(
        "select sum(upper(r) - lower(r)) from (select unnest(range_agg(tstzrange(started_at, ended_at + %s))) as r"
        " from crontick.ticks) as u",
        STAYS_UP,
    )
    assert awake((one.at, one.at + STAYS_UP) for one in planned) == up


async def remembered(week: Week) -> History:
    await week.at(WEEK_ENDS)
    with psycopg.connect(week.url, autocommit=True, row_factory=dict_row) as conn:
        history = read_history(conn, timedelta(days=7))
    assert history is not None
    return history
