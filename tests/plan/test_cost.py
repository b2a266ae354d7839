"""What a month costs, computed by hand."""

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from crontick.handler.plan.cadence import CADENCES, Cadence, Wake, awake, delays, wakes
from crontick.handler.plan.history import MONTH, Due, History, at_random
from crontick.handler.plan.month import Month, month
from crontick.handler.plan.prices import Prices, read_prices

STARTS = datetime(2026, 11, 1, tzinfo=UTC)
NOTHING_DUE = History(STARTS, STARTS + MONTH, ())
PRICES = read_prices()
BY_NAME = {one.name: one for one in CADENCES}
# Wakes of 2 s that keep a database of 0.25 CU up for 300 s more.
BY_HAND = {
    "1 min": (43_200, 720, 720 * 0.25 * 0.106, None, None),
    "5 min": (8_640, 720, 720 * 0.25 * 0.106, 8_640, 6_640 * 0.006),
    "15 min": (2_880, 2_880 * 302 / 3600, 2_880 * 302 / 3600 * 0.25 * 0.106, 2_880, 880 * 0.006),
    "30 min": (1_440, 1_440 * 302 / 3600, 1_440 * 302 / 3600 * 0.25 * 0.106, 1_440, 0),
    "60 min": (720, 720 * 302 / 3600, 720 * 302 / 3600 * 0.25 * 0.106, 720, 0),
}


def assuming(**assumed: float) -> Prices:
    return msgspec.structs.replace(PRICES, assumed=msgspec.structs.replace(PRICES.assumed, **assumed))


def hours(length: timedelta) -> float:
    return length / timedelta(hours=1)


@pytest.mark.parametrize("name", BY_HAND)
def test_a_month_of_idle_ticks(name: str) -> None:
    told = month(NOTHING_DUE, BY_NAME[name], PRICES)
    assert (told.scheduler_usd, told.function_usd) == (0, 0), "both are free up to there"
    figures = (told.wakes, hours(told.awake), told.usd, told.github_minutes, told.github_usd)
    assert figures == pytest.approx(BY_HAND[name])


def test_what_lies_beyond_the_free_share_is_paid() -> None:
    # 43,200 wakes of 12 s at 1 GB are 518,400 GB-seconds, of which 400,000 are free.
    told = month(NOTHING_DUE, BY_NAME["1 min"], assuming(tick_seconds=12, function_gb=1))
    assert told.function_usd == pytest.approx(118_400 * 16.6667 / 1_000_000)
    dear = msgspec.structs.replace(
        PRICES,
        function_request=msgspec.structs.replace(PRICES.function_request, free=3_200),
        scheduler_call=msgspec.structs.replace(PRICES.scheduler_call, free=0),
    )
    told = month(NOTHING_DUE, BY_NAME["1 min"], dear)
    assert told.function_usd == pytest.approx(40_000 * 0.20 / 1_000_000)
    assert told.scheduler_usd == pytest.approx(43_200 / 1_000_000)
    assert told.usd == pytest.approx(told.scheduler_usd + told.function_usd + told.database_usd)


def test_each_run_on_github_is_rounded_up_to_a_minute() -> None:
    for seconds, minutes in ((0, 1), (59, 1), (60, 1), (61, 2), (121, 3)):
        told = month(NOTHING_DUE, BY_NAME["60 min"], assuming(tick_seconds=seconds))
        assert told.github_minutes == pytest.approx(720 * minutes)


def test_jobs_lengthen_the_tick_that_runs_them() -> None:
    due = STARTS + timedelta(minutes=50)
    history = History(STARTS, STARTS + timedelta(hours=2), [Due(due, STARTS, 4)], 30)
    told = month(history, BY_NAME["60 min"], assuming(function_gb=1000))
    # Two ticks of 2 s, the second with 120 s of jobs: 360 times in a month.
    assert hours(told.awake) == pytest.approx(360 * (302 + 422) / 3600)
    assert told.github_minutes == pytest.approx(360 * (1 + 3))
    assert told.function_usd == pytest.approx((360 * 124_000 - 400_000) * 16.6667 / 1_000_000)


def test_overlapping_times_awake_count_once() -> None:
    def spans(*minutes: tuple[int, int]) -> list[tuple[datetime, datetime]]:
        return [(STARTS + timedelta(minutes=begin), STARTS + timedelta(minutes=end)) for begin, end in minutes]

    for given, together in (
        (spans(), 0),
        (spans((0, 5), (10, 15)), 10),
        (spans((0, 5), (5, 10)), 10),
        (spans((0, 5), (2, 7), (3, 8)), 8),
        (spans((0, 9), (2, 7), (8, 10)), 10),
    ):
        assert awake(given) == timedelta(minutes=together)


def test_waits_and_wakes_of_a_few_jobs() -> None:
    moments = [Due(STARTS + timedelta(minutes=at), STARTS, jobs) for at, jobs in ((0, 1), (1, 17), (14, 1), (31, 1))]
    history = History(STARTS, STARTS + timedelta(hours=1), moments)
    quarterly = BY_NAME["15 min"]
    assert [one.jobs for one in wakes(history, quarterly)] == [1, 18, 0, 1]
    said = delays(history, quarterly)
    minutes = [one / timedelta(minutes=1) for one in (said.mean, said.p95, said.worst)]
    assert minutes == [(0 + 17 * 14 + 1 + 14) / 20, 14, 14]
    later = Cadence("7,22,37,52", timedelta(minutes=15), offset=timedelta(minutes=7))
    assert [one.at.minute for one in wakes(history, later)] == [7, 22, 37, 52]
    assert delays(history, later).worst == timedelta(minutes=8)
    last = STARTS + timedelta(minutes=58)
    assert delays(History(STARTS, STARTS + timedelta(minutes=59), [Due(last, STARTS)]), later).worst == timedelta(
        minutes=9
    )


def test_an_alarm_is_set_when_the_moment_is_known_and_rounded_up() -> None:
    known, due = STARTS + timedelta(hours=1), STARTS + timedelta(hours=2, seconds=1)
    at_once = STARTS + timedelta(hours=3, seconds=58)
    history = History(STARTS, STARTS + timedelta(hours=12), [Due(due, known), Due(at_once, at_once)])
    tickless = Cadence("wake", timedelta(days=1), alarms=True)
    assert wakes(history, tickless) == [
        Wake(STARTS, 0),
        Wake(STARTS + timedelta(hours=2, minutes=1), 1),
        Wake(STARTS + timedelta(hours=3, minutes=2), 1),
    ]


def test_a_month_at_random_has_the_rates_that_were_given_and_is_the_same_each_time() -> None:
    given: dict[str, Any] = {"jobs_per_day": 200, "due_moments_per_day": 40, "job_seconds": 0.5}
    history = at_random(**given)
    assert (history.jobs, len(history.moments), history.length) == (6_000, 1_200, MONTH)
    assert {due.jobs for due in history.moments} == {5}
    assert history == at_random(**given)
    assert delays(history, BY_NAME["60 min"]).mean / timedelta(minutes=30) == pytest.approx(1, abs=0.1)


def test_all_months_of_one_history_wait_and_cost_in_the_order_of_their_cadences() -> None:
    history = at_random(jobs_per_day=30, due_moments_per_day=10, job_seconds=1)
    months: list[Month] = [month(history, one, PRICES) for one in CADENCES]
    assert months == sorted(months, key=lambda one: one.delays.mean)
    assert months == sorted(months, key=lambda one: one.usd, reverse=True)
