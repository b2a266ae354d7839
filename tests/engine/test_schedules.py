"""Schedules: a slot becomes a job once, at its time, whatever became of the ticks (P24)."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from crontick.jobs import Context, Kind, Scheduled, kind, schedule
from tests.engine.conftest import World
from tests.worlds.proxy import Proxy

pytestmark = pytest.mark.anyio


class Ran(list[Scheduled | None]):
    """The slots whose jobs ran, in the order of their runs."""

    def kind(self, cron: str, **options: Any) -> Kind[Any]:
        """A kind ``work`` that notes its slot, with one schedule of that name."""

        @schedule(cron, **options)
        @kind("work", max_attempts=1)
        async def work(payload: dict[str, Any], ctx: Context) -> None:
            assert "$schedule" not in payload
            self.append(ctx.schedule)

        return work

    @property
    def at(self) -> list[str]:
        """Their moments, in UTC."""
        return [f"{slot.slot_at:%m-%dT%H:%M}" for slot in self if slot and slot.slot_at]


@pytest.fixture
def ran() -> Ran:
    return Ran()


async def clock(world: World, at: str) -> None:
    """Set the database's clock, which goes on from there."""
    await world.rows("update crontick.test_clock set ahead = %s::timestamptz - statement_timestamp()", at)


async def row(world: World, name: str = "work") -> dict[str, Any]:
    told = await world.one("select to_jsonb(s)::text from crontick.schedules as s where name = %s", name)
    return dict(msgspec.json.decode(told))


async def test_a_slot_is_a_job_in_the_tick_that_finds_it_due(world: World, ran: Ran) -> None:
    work = ran.kind("30 2 * * *", tz="Europe/Berlin", payload={"report": "activity"}, queue="nightly", priority=-3)
    await clock(world, "2026-11-30 00:00Z")
    first = await world.tick(work)
    assert (first.scheduled, first.next_due_at) == (0, datetime(2026, 11, 30, 1, 30, tzinfo=UTC))
    await clock(world, "2026-11-30 01:29:00Z")
    assert (await world.tick(work)).claimed == 0
    await clock(world, "2026-11-30 01:42:00Z")
    summary = await world.tick(work)
    assert (summary.scheduled, summary.succeeded) == (1, 1)
    assert summary.next_due_at == datetime(2026, 12, 1, 1, 30, tzinfo=UTC)
    [slot] = ran
    assert slot is not None
    assert (slot.name, slot.slot_at) == ("work", datetime(2026, 11, 30, 1, 30, tzinfo=UTC))
    assert (slot.local, slot.missed, slot.by) == ("2026-11-30T02:30:00", 0, None)
    assert 720 <= slot.late_seconds < 780
    [job] = await world.rows("select queue, priority, payload - '$schedule', run_at from crontick.jobs")
    assert job == ("nightly", -3, {"report": "activity"}, slot.slot_at)
    assert await world.rows("select scheduled from crontick.ticks order by id") == [(0,), (0,), (1,)]
    assert (await world.tick(work)).scheduled == 0


DAILY = "30 2 * * *"


async def outage(world: World, work: Kind[Any]) -> Any:
    """Two weeks from the first tick to the second, with fourteen nights at 02:30 in between."""
    await clock(world, "2026-11-01 12:00Z")
    await world.tick(work)
    await clock(world, "2026-11-15 12:00Z")
    return await world.tick(work)


async def test_after_two_weeks_without_a_tick_the_latest_slot_runs_and_knows_how_many_were_missed(
    world: World, ran: Ran
) -> None:
    summary = await outage(world, ran.kind(DAILY))
    assert (summary.scheduled, ran.at, [slot.missed for slot in ran if slot]) == (1, ["11-15T02:30"], [13])
    assert ran[0] is not None
    assert ran[0].late_seconds // 60 == 9 * 60 + 30
    told = await row(world)
    assert (told["fired"], told["missed"], told["last_slot_local"]) == (1, 13, "2026-11-15T02:30:00")


async def test_after_two_weeks_without_a_tick_none_of_the_missed_slots_runs_where_nothing_is_caught_up(
    world: World, ran: Ran
) -> None:
    work = ran.kind(DAILY, catch_up="none")
    summary = await outage(world, work)
    assert (summary.scheduled, summary.next_due_at) == (0, datetime(2026, 11, 16, 2, 30, tzinfo=UTC))
    assert (await row(world))["missed"] == 14
    await clock(world, "2026-11-16 03:29Z")
    assert (await world.tick(work)).scheduled == 1
    assert (ran.at, [slot.missed for slot in ran if slot]) == (["11-16T02:30"], [0])


async def test_where_nothing_is_caught_up_late_says_how_late_a_slot_still_runs(world: World, ran: Ran) -> None:
    work = ran.kind(DAILY, catch_up="none", late=timedelta(minutes=10))
    await clock(world, "2026-11-01 12:00Z")
    await world.tick(work)
    await clock(world, "2026-11-02 02:40:30Z")
    await world.tick(work)
    await clock(world, "2026-11-03 02:39Z")
    await world.tick(work)
    assert ran.at == ["11-03T02:30"]


async def test_after_two_weeks_without_a_tick_the_latest_few_run_in_their_order_where_all_are_caught_up(
    world: World, ran: Ran
) -> None:
    world.settings = {"concurrency": 1}
    summary = await outage(world, ran.kind(DAILY, catch_up="all", at_most=3))
    assert (summary.scheduled, summary.succeeded) == (3, 3)
    assert ran.at == ["11-13T02:30", "11-14T02:30", "11-15T02:30"]
    assert [slot.missed for slot in ran if slot] == [11, 0, 0]


async def test_after_a_week_one_run_catches_up_and_then_comes_tomorrow_s(world: World, ran: Ran) -> None:
    work = ran.kind("0 6 * * *")
    await clock(world, "2026-11-01 12:00Z")
    await world.tick(work)
    await clock(world, "2026-11-08 12:00Z")
    for _ in range(5):
        await world.tick(work)
        await world.later(60)
    await clock(world, "2026-11-09 06:00Z")
    await world.tick(work)
    assert ran.at == ["11-08T06:00", "11-09T06:00"]


async def test_a_tick_on_the_minute_and_one_by_a_clock_set_back_fire_a_slot_once(world: World, ran: Ran) -> None:
    work = ran.kind("* * * * *", overlap="allow")
    await clock(world, "2026-11-01 12:00:30Z")
    await world.tick(work)
    for at in ("12:01:00", "12:01:00.005", "12:00:59.99", "12:02:00"):
        await clock(world, f"2026-11-01 {at}Z")
        await world.tick(work)
    await clock(world, "2026-11-01 12:03:00Z")
    summaries = await asyncio.gather(*(world.tick(work) for _ in range(4)))
    assert [summary.errors + summary.warnings[1:] for summary in summaries] == [[]] * 4
    assert ran.at == ["11-01T12:01", "11-01T12:02", "11-01T12:03"]


async def test_a_slot_whose_last_job_is_unfinished_is_skipped_recorded_and_told_the_third_time(world: World) -> None:
    """A schedule of a minute, whose jobs take five: never two of them, however long that goes on."""
    ran: list[int] = []

    @schedule("* * * * *")
    @kind("slow", backoff=[300])
    async def slow(payload: dict[str, Any], ctx: Context) -> None:
        ran.append(ctx.job.id)
        if ran.count(ctx.job.id) == 1:
            raise OSError("it takes five minutes")

    await clock(world, "2026-11-01 12:00:30Z")
    warned = []
    for _ in range(31):
        summary = await world.tick(slow)
        warned += [warning for warning in summary.warnings if "skipped" in warning]
        assert await world.one("select count(*) from crontick.unfinished_jobs") <= 1
        await world.later(60)
    told = await row(world, "slow")
    assert told["fired"] + told["skipped"] == 30
    assert 5 <= told["fired"] <= 6
    assert told["missed"] == 0
    job = await world.one("select min(id) from crontick.jobs")
    assert warned[0] == (f"schedule slow skipped 3 times in a row: job {job} is still unfinished: `crontick why {job}`")


async def test_slots_may_overlap_where_they_are_allowed_to(world: World) -> None:
    @schedule("* * * * *", overlap="allow")
    @kind("slow", backoff=[3600])
    async def slow(payload: dict[str, Any]) -> None:
        raise OSError

    await clock(world, "2026-11-01 12:00:30Z")
    for _ in range(4):
        await world.tick(slow)
        await world.later(60)
    assert await world.one("select count(*) from crontick.unfinished_jobs where status = 'failed'") == 3


async def test_slots_inside_a_pause_are_not_missed(world: World, ran: Ran) -> None:
    work = ran.kind("0 * * * *")
    await clock(world, "2026-11-01 12:30Z")
    await world.tick(work)
    await world.rows("select crontick.pause('schedule', 'work', 'ann', 'month end')")
    await clock(world, "2026-11-01 15:30Z")
    assert (await world.tick(work)).next_due_at is None
    assert "is paused since" in (await row(world))["why"]
    await world.rows("select crontick.resume('schedule', 'work', 'ann')")
    assert (await row(world))["why"] == "is computed by the next tick"
    summary = await world.tick(work)
    assert (summary.scheduled, summary.next_due_at) == (0, datetime(2026, 11, 1, 16, tzinfo=UTC))
    await clock(world, "2026-11-01 16:00Z")
    await world.tick(work)
    assert (ran.at, [slot.missed for slot in ran if slot]) == (["11-01T16:00"], [0])


async def test_slots_inside_a_pause_of_everything_are_not_missed_either(world: World, ran: Ran) -> None:
    work = ran.kind("0 * * * *")
    await clock(world, "2026-11-01 12:30Z")
    await world.tick(work)
    await world.rows("select crontick.pause('all', '', 'ann')")
    await clock(world, "2026-11-01 15:30Z")
    assert (await world.tick(work)).not_run == "paused"
    await world.rows("select crontick.resume('all', '', 'ann')")
    assert (await world.tick(work)).scheduled == 0
    await clock(world, "2026-11-01 16:00Z")
    assert (await world.tick(work)).scheduled == 1


async def test_a_schedule_that_is_declared_no_more_stops_and_one_that_comes_back_starts_anew(
    world: World, ran: Ran
) -> None:
    work, bare = ran.kind("0 * * * *"), Ran().kind("0 0 1 1 *", name="other")
    await clock(world, "2026-11-01 12:30Z")
    await world.tick(work)
    await world.tick(bare)
    await clock(world, "2026-11-01 14:30Z")
    assert (await world.tick(bare)).scheduled == 0
    assert (await row(world))["why"].startswith("stopped at 2026-11-01 12:3")
    again = ran.kind("0 * * * *", priority=1)
    assert (await world.tick(again)).scheduled == 0
    assert (await world.tick(again)).scheduled == 0
    await clock(world, "2026-11-01 15:00Z")
    await world.tick(again)
    assert (ran.at, [slot.missed for slot in ran if slot]) == (["11-01T15:00"], [0])


async def test_what_is_changed_fires_no_slot_again_and_counts_from_then_on(world: World, ran: Ran) -> None:
    await clock(world, "2026-11-01 12:30Z")
    await world.tick(ran.kind(DAILY))
    await clock(world, "2026-11-02 02:35Z")
    await world.tick(ran.kind(DAILY))
    await world.tick(ran.kind(DAILY, payload={"other": "payload"}))
    assert (await row(world))["last_slot_local"] == "2026-11-02T02:30:00"
    await world.tick(ran.kind("34 2 * * *"))  # past already: nobody asked for it before it was past
    await world.tick(ran.kind("34 2 * * *"))
    assert (await row(world))["next_at"].startswith("2026-11-03T02:34")
    await world.tick(ran.kind("34 2 * * *", name="renamed"))
    await world.tick(ran.kind("34 2 * * *", name="renamed"))
    assert ran.at == ["11-02T02:30"]
    await clock(world, "2026-11-03 02:35Z")
    await world.tick(ran.kind("34 2 * * *", name="renamed"))
    assert ran.at == ["11-02T02:30", "11-03T02:34"]


async def test_a_slot_that_came_due_before_a_change_fires_by_the_expression_that_named_it(
    world: World, ran: Ran
) -> None:
    await clock(world, "2026-11-01 12:30Z")
    await world.tick(ran.kind(DAILY))
    await clock(world, "2026-11-02 02:31Z")
    assert (await world.tick(ran.kind("0 4 * * *"))).scheduled == 1
    await clock(world, "2026-11-02 04:00Z")
    await world.tick(ran.kind("0 4 * * *"))
    assert ran.at == ["11-02T02:30", "11-02T04:00"]


async def test_a_tick_of_another_deployment_runs_what_is_in_force_and_says_that_it_differs(
    world: World, ran: Ran
) -> None:
    old, new = ran.kind("0 * * * *"), ran.kind("30 * * * *")
    await clock(world, "2026-11-01 12:15Z")
    for work in (old, new):
        await world.tick(work)
    await clock(world, "2026-11-01 12:30Z")
    summary = await world.tick(old)
    assert (summary.scheduled, ran.at) == (1, ["11-01T12:30"])
    said = "the schedules in force are those of another deployment: `crontick migrate` puts those of this one in force"
    assert said in summary.warnings
    assert said not in (await world.tick(new)).warnings


async def test_one_bad_schedule_stops_no_other(world: World, ran: Ran) -> None:
    @schedule("* * * * *", name="bad")
    @schedule("* * * * *", name="foreign")
    @schedule("* * * * *", name="heavy")
    @schedule("* * * * *")
    @kind("work")
    async def work(payload: dict[str, Any], ctx: Context) -> None:
        ran.append(ctx.schedule)

    await clock(world, "2026-11-01 12:00:30Z")
    await world.tick(work)
    await world.rows("update crontick.declared_schedules set cron = '61 * * * *' where name = 'bad'")
    await world.rows("update crontick.declared_schedules set kind = 'unheard_of' where name = 'foreign'")
    await world.rows(
        "update crontick.declared_schedules set payload = jsonb_build_object('x', repeat('x', 70000))"
        " where name = 'heavy'"
    )
    await clock(world, "2026-11-01 12:01:00Z")
    summary = await world.tick(work)
    assert (summary.scheduled, [slot.name for slot in ran if slot]) == (1, ["work"])
    told = {trouble.schedule: trouble.error for trouble in summary.errors}
    assert told.keys() == {"bad", "heavy"}
    assert told["heavy"].startswith("its job was refused at enqueue: the payload of work has 701")
    assert "schedule foreign is due, and this deployment has no kind unheard_of" in " ".join(summary.warnings)
    assert (await row(world, "bad"))["next_at"] is None
    assert "no deployment of the last day knows its kind unheard_of" in (await row(world, "foreign"))["why"]
    later = " ".join((await world.tick(work)).warnings)
    assert "schedule bad: " in later
    assert "schedule heavy: its job was refused" in later
    await world.rows("update crontick.declared_schedules set cron = '* * * * *' where name = 'bad'")
    await clock(world, "2026-11-01 13:02:00Z")
    assert (await world.tick(work)).scheduled == 2  # it is looked at again within the hour
    assert (await row(world, "bad"))["error"] is None


async def test_a_schedule_that_cannot_be_read_stops_no_deployment_and_says_why(world: World, ran: Ran) -> None:
    work = ran.kind("0 25 * * *")
    await world.tick(work)
    summary = await world.tick(work)
    assert "schedule work: " in " ".join(summary.warnings)
    assert (await row(world))["error"]


async def test_spread_delays_each_name_by_its_own_part_and_the_slot_stays_what_it_is(world: World, ran: Ran) -> None:
    work = ran.kind("0 * * * *", spread=timedelta(minutes=30))
    [made] = work.schedules
    due_at = datetime(2026, 11, 1, 13, tzinfo=UTC) + made.behind
    assert timedelta(0) < made.behind <= timedelta(minutes=30)
    await clock(world, "2026-11-01 12:59:59Z")
    await world.tick(work)
    assert (await row(world))["next_at"].startswith(f"{due_at:%Y-%m-%dT%H:%M:%S}")
    await clock(world, str(due_at - timedelta(seconds=30)))
    await world.tick(work)
    assert ran == []
    await clock(world, str(due_at))
    await world.tick(work)
    assert ran.at == ["11-01T13:00"]
    assert ran[0] is not None
    assert ran[0].late_seconds < 30


async def test_a_person_runs_it_now_and_is_told_apart(world: World, ran: Ran) -> None:
    work = ran.kind(DAILY, payload={"n": 1})
    await clock(world, "2026-11-01 12:00Z")
    await world.tick(work)
    job = await world.one("select crontick.run_schedule('work', 'ann', 'the disk was full')")
    await world.tick(work)
    assert ran == [Scheduled(name="work", by="ann")]
    audited = "select action, target, job, by, reason from crontick.audit"
    assert await world.rows(audited) == [("run", "schedule work", job, "ann", "the disk was full")]
    await clock(world, "2026-11-02 02:30Z")
    assert (await world.tick(work)).scheduled == 1


async def test_an_idle_tick_with_schedules_is_one_round_trip_and_one_that_fires_three(
    world: World, ran: Ran, proxy: Proxy
) -> None:
    work = ran.kind("0 * * * *")
    await clock(world, "2026-11-01 12:30Z")
    await world.tick(work)
    await world.tick(work, url=proxy.url)
    assert proxy.round_trips == 1
    await clock(world, "2026-11-01 13:00Z")
    proxy.round_trips = 0
    await world.tick(work, url=proxy.url)
    assert (ran.at, proxy.round_trips) == (["11-01T13:00"], 3)
    await world.rows("select crontick.pause('schedule', 'work', 'ann')")
    await clock(world, "2026-11-01 14:00Z")
    proxy.round_trips = 0
    await world.tick(work, url=proxy.url)
    assert proxy.round_trips == 1


async def minutes(world: World, work: Kind[Any], start: str, *, every: int, count: int) -> None:
    """Ticks that come so many minutes apart."""
    await clock(world, start)
    for _ in range(count):
        await world.tick(work)
        await world.later(every * 60)


async def test_a_weekly_job_runs_once_on_the_day_after_the_clocks_went_back(world: World, ran: Ran) -> None:
    work = ran.kind("0 6 * * mon", tz="Europe/Riga")
    await minutes(world, work, "2021-10-31 23:05Z", every=10, count=48)
    assert [slot.local for slot in ran if slot] == ["2021-11-01T06:00:00"]
    assert ran.at == ["11-01T04:00"]


async def test_a_fixed_time_runs_once_and_a_wildcard_goes_on_through_the_hour_that_comes_twice(
    world: World, ran: Ran
) -> None:
    wild = Ran()

    @schedule("*/15 * * * *", tz="America/New_York")
    @kind("wild")
    async def go_on(payload: dict[str, Any], ctx: Context) -> None:
        wild.append(ctx.schedule)

    fixed = ran.kind("30 1 * * *", tz="America/New_York")
    await clock(world, "2026-11-01 04:55Z")
    for _ in range(16):
        await world.tick(fixed, go_on)
        await world.later(600)
    assert ran.at == ["11-01T05:30"]
    assert wild.at == [f"11-01T{hour:02}:{minute:02}" for hour in (5, 6) for minute in (0, 15, 30, 45)] + [
        "11-01T07:00",
        "11-01T07:15",
    ]
    assert [slot.local[11:16] for slot in wild if slot and slot.local][4:8] == ["01:00", "01:15", "01:30", "01:45"]


async def test_vancouver_no_longer_changes_its_clocks(world: World, ran: Ran) -> None:
    work = ran.kind("0 9 * * *", tz="America/Vancouver")
    await clock(world, "2026-12-01 15:00Z")
    assert (await world.tick(work)).next_due_at == datetime(2026, 12, 1, 16, tzinfo=UTC)


@pytest.mark.parametrize("ahead", ["-10 minutes", "10 minutes"])
async def test_the_database_s_clock_alone_counts(world: World, ran: Ran, ahead: str) -> None:
    work = ran.kind("* * * * *")
    await world.rows("update crontick.test_clock set ahead = %s::interval", ahead)
    await world.tick(work)
    await world.later(60)
    await world.tick(work)
    now = await world.one("select crontick.now()")
    [slot] = ran
    assert slot is not None
    assert slot.slot_at is not None
    assert timedelta(0) <= now - slot.slot_at < timedelta(minutes=2)
    assert slot.late_seconds >= 0


async def test_zone_data_that_changed_are_followed_within_a_day(world: World, ran: Ran) -> None:
    """The next time was computed with older rules: a tick computes it again, and fires nothing that is not due."""
    work = ran.kind("0 9 1 * *", tz="America/Vancouver")
    await clock(world, "2026-11-15 12:00Z")
    await world.tick(work)
    await world.rows("update crontick.declared_schedules set next_at = next_at + interval '1 hour'")
    await clock(world, "2026-11-16 12:01Z")
    summary = await world.tick(work)
    assert (summary.scheduled, summary.next_due_at) == (0, datetime(2026, 12, 1, 16, tzinfo=UTC))


async def test_code_that_knows_nothing_of_schedules_leaves_them_as_they_are(world: World, ran: Ran) -> None:
    work = ran.kind("0 * * * *")
    await clock(world, "2026-11-01 12:30Z")
    await world.tick(work)
    await world.rows("select crontick.sync_deployment('older', '0.0.9', '[]', false)")
    assert (await row(world))["removed_at"] is None
    differs = (
        "select i.schedules = d.schedules from crontick.installation as i, crontick.deployments as d where hash = %s"
    )
    assert await world.one(differs, "older")


async def test_more_schedules_than_one_tick_fires_are_left_for_the_next_and_told(world: World) -> None:
    @kind("work")
    async def work(payload: dict[str, Any]) -> None:
        """A kind with very many schedules."""

    for nth in range(101):
        work = schedule("* * * * *", name=f"s{nth}")(work)
    await clock(world, "2026-11-01 12:00:30Z")
    await world.tick(work)
    await clock(world, "2026-11-01 12:01:00Z")
    summaries = [await world.tick(work, limit=200) for _ in range(2)]
    assert [(summary.scheduled, summary.more) for summary in summaries] == [(100, True), (1, False)]


async def test_a_typed_payload_that_knows_no_other_field_has_its_slot_beside_it(world: World) -> None:
    class Strict(msgspec.Struct, forbid_unknown_fields=True):
        n: int

    got: list[tuple[int, str | None]] = []

    @schedule("* * * * *", payload=Strict(7))
    @kind("strict")
    def strict(payload: Strict, ctx: Context) -> None:
        got.append((payload.n, ctx.schedule.local if ctx.schedule else None))

    await clock(world, "2026-11-01 12:00:30Z")
    await world.tick(strict)
    await clock(world, "2026-11-01 12:01:00Z")
    await world.tick(strict)
    await strict.enqueue(world.conn, Strict(8))
    await world.tick(strict)
    assert got == [(7, "2026-11-01T12:01:00"), (8, None)]


@pytest.mark.parametrize(
    "change",
    [
        "update crontick.declared_schedules set starts_at = starts_at + interval '1 s'",
        "update crontick.declared_schedules set last_slot_at = now(), last_slot_local = '', last_slot_fold = 0",
        "update crontick.declared_schedules set removed_at = now()",
        "select crontick.pause('schedule', 'work', 'ann')",
        "select true",
    ],
)
async def test_what_changed_since_the_opening_is_not_fired_by_what_it_read(world: World, ran: Ran, change: str) -> None:
    await clock(world, "2026-11-01 12:30Z")
    await world.tick(ran.kind("0 * * * *"))
    seen = await world.one("select to_jsonb(s) from crontick.declared_schedules as s")
    told = {"name": "work", "starts_at": seen["starts_at"], "last_slot_at": None, "passed": 1} | {
        "slots": [{"slot_at": "2026-11-01T13:00Z", "local": "2026-11-01T13:00:00", "missed": 0}],
        "slot_at": "2026-11-01T13:00Z",
        "slot_local": "2026-11-01T13:00:00",
        "slot_fold": 0,
        "next_at": "2026-11-01T14:00Z",
    }
    await world.rows(change)
    fired = "select f.fired from crontick.ticks as t cross join crontick.fire_schedules(t.opening, %s) as f"
    found = await world.rows(fired, msgspec.json.encode([told]).decode())
    assert found == ([(1,)] if change == "select true" else [])
