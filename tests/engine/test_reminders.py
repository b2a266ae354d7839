"""Reminders: one for each item and moment, at its time, and never after the item (P23)."""

import asyncio
import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from crontick.jobs import Context, Item, Kind, kind, reminder
from crontick.jobs.remind import ask_for_items
from crontick.jobs.reminders import Reminder
from tests.engine.conftest import World
from tests.worlds.proxy import Proxy

pytestmark = pytest.mark.anyio
HOUR = timedelta(hours=1)
DAY = timedelta(hours=24)
BOOKINGS = "create table public.bookings (id int primary key, at timestamptz not null, cancelled boolean default false)"
QUERY = """
select b.id as item, b.at as item_at, jsonb_build_object('booking', b.id) as payload
from public.bookings as b where not b.cancelled and b.at between :from and :to -- by the clock of :from
"""


def day_before(**changes: Any) -> Reminder:
    """A reminder of bookings, a day ahead."""
    told: dict[str, Any] = {"name": "day", "kind": "note", "lead": DAY, "late": DAY, "query": QUERY}
    return Reminder(**{**told, **changes})


def noting(sent: list[int], *, fail: int = 0) -> Kind[Any]:
    """A kind that notes what it sends; a first attempt at ``fail`` fails."""

    @kind("note")
    async def note(payload: dict[str, int], ctx: Context) -> None:
        if payload["booking"] == fail and ctx.attempt == 1:
            raise ValueError
        sent.append(payload["booking"])

    return note


@pytest.fixture
async def bookings(world: World) -> None:
    """A table of bookings, of which one reminder a day ahead is due; the deployment is known."""
    await world.rows(BOOKINGS)
    world.reminders = [day_before()]
    await world.tick(noting([]))


async def book(world: World, booking: int, hours: float) -> None:
    await world.rows("insert into public.bookings values (%s, crontick.now() + %s * interval '1 hour')", booking, hours)


@pytest.mark.usefixtures("bookings")
async def test_one_reminder_a_day_ahead_however_often_the_tick_comes(world: World) -> None:
    sent: list[int] = []
    await book(world, 1, 30)
    for _ in range(32):
        await world.tick(noting(sent))
        if not sent:
            assert await world.one("select min(at) - crontick.now() >= interval '24 h' from public.bookings")
        await world.later(3600)
    assert sent == [1]


@pytest.mark.usefixtures("bookings")
async def test_it_goes_out_in_the_tick_that_finds_it_with_priority_ten_and_expires_with_its_window(
    world: World,
) -> None:
    sent: list[int] = []
    await book(world, 1, 20)
    summary = await world.tick(noting(sent))
    assert (summary.reminders["day"].fired, summary.succeeded, sent) == (1, 1, [1])
    assert await world.rows("select priority, expires_at = b.at from crontick.jobs, public.bookings as b") == [
        (10, True)
    ]
    assert await world.one("select reminders from crontick.ticks order by id desc limit 1") == 1


@pytest.mark.usefixtures("bookings")
async def test_several_reminders_of_a_booking_with_several_guests_are_one_for_each_reminder_and_guest(
    world: World,
) -> None:
    sent: list[tuple[str, int, str]] = []

    @kind("note")
    async def note(payload: dict[str, Any]) -> None:
        sent.append((payload["rule"], payload["booking"], payload["guest"]))

    await world.rows("create table public.guests (booking int, name text)")
    await world.rows("insert into public.guests values (1, 'ada'), (1, 'bob'), (2, 'ada')")
    query = """
    select b.id || ':' || g.name as item, b.at as item_at,
        jsonb_build_object('rule', '{rule}', 'booking', b.id, 'guest', g.name) as payload
    from public.bookings as b join public.guests as g on g.booking = b.id where b.at between :from and :to
    """
    world.reminders = [
        day_before(name=rule, lead=lead, late=lead, query=query.format(rule=rule))
        for rule, lead in (("day", DAY), ("hours", 2 * HOUR))
    ]
    await book(world, 1, 30)
    await book(world, 2, 1)
    for _ in range(31):
        await asyncio.gather(*(world.tick(note) for _ in range(3)))
        await world.later(3600)
    assert sorted(sent) == [
        (rule, booking, guest) for rule in ("day", "hours") for booking, guest in ((1, "ada"), (1, "bob"), (2, "ada"))
    ]


@pytest.mark.usefixtures("bookings")
async def test_beyond_its_late_window_it_is_skipped_and_counted_once(world: World) -> None:
    sent: list[int] = []
    world.reminders = [day_before(late=timedelta(hours=2))]
    await book(world, 1, 21)
    await book(world, 2, 23)
    summary = await world.tick(noting(sent))
    assert (summary.reminders["day"].fired, summary.reminders["day"].skipped_late, sent) == (1, 1, [2])
    assert (await world.tick(noting(sent))).reminders == {}


@pytest.mark.usefixtures("bookings")
async def test_it_is_never_sent_after_the_item(world: World) -> None:
    sent: list[int] = []
    await book(world, 1, 1)
    await world.tick(noting(sent, fail=1))
    await world.later(3601)
    await world.tick(noting(sent))
    assert (sent, await world.counts()) == ([], {"cancelled": 1})


@pytest.mark.usefixtures("bookings")
async def test_overlapping_ticks_send_it_once(world: World) -> None:
    sent: list[int] = []
    for n in range(1, 21):
        await book(world, n, 10)
    note = noting(sent)
    summaries = await asyncio.gather(*[world.tick(note) for _ in range(4)])
    assert sorted(sent) == list(range(1, 21))
    assert sum(summary.reminders["day"].fired for summary in summaries if summary.reminders) == 20


@pytest.mark.parametrize(("only", "reminded"), [("", [1, 2]), (" and b.made_at < b.at - interval '24 h'", [1])])
async def test_what_is_booked_inside_the_lead_is_reminded_of_at_once_unless_the_query_says_otherwise(
    world: World, only: str, reminded: list[int]
) -> None:
    sent: list[int] = []
    await world.rows("create table public.bookings (id int, at timestamptz, made_at timestamptz, cancelled boolean)")
    await world.rows(
        "insert into public.bookings select n, now() + interval '5 h', now() - made * interval '1 h', false"
        " from (values (1, 48), (2, 1)) as b (n, made)"
    )
    world.reminders = [day_before(query=QUERY.replace(" -- by the clock of :from", only))]
    await world.tick(noting(sent))
    assert sorted(sent) == reminded


PAGE = (Path(__file__).parents[2] / "docs" / "reminders.md").read_text()
LOCAL = re.findall(r"```sql\n(.*?)```", PAGE, re.DOTALL)[0].replace(
    "…", "jsonb_build_object('booking', b.id) as payload"
)
TEXT = re.findall(r"`(to_char\(.*?\))`", PAGE)[0]


async def test_an_hour_of_the_day_is_that_hour_on_both_sides_of_a_clock_change(world: World) -> None:
    """At eight in Berlin on the day of the booking: 07:00 in UTC before the last Sunday of March, 06:00 after it."""
    sent: list[int] = []
    await world.rows("create table public.bookings (id int, starts_at timestamptz, zone text)")
    await world.rows(
        "insert into public.bookings values (1, '2026-03-28 15:00+01', 'Europe/Berlin'),"
        " (2, '2026-03-29 15:00+02', 'Europe/Berlin')"
    )
    world.reminders = [Reminder(name="eight", kind="note", lead=HOUR, late=HOUR, query=LOCAL)]
    found = []
    for moment in ("03-28 06:59", "03-28 07:00", "03-29 05:59", "03-29 06:00"):
        await world.rows("update crontick.test_clock set ahead = %s::timestamptz - now()", f"2026-{moment}:30+00")
        await world.tick(noting(sent))
        found.append(list(sent))
    assert found == [[], [1], [1], [1, 2]]


@pytest.mark.parametrize("session", ["UTC", "Asia/Tokyo"])
async def test_a_guest_in_another_zone_reads_his_own_time_a_day_of_24_hours_before(world: World, session: str) -> None:
    """The night on which Berlin loses an hour, for somebody in New York, whatever the zone of the database."""
    texts: list[str] = []

    @kind("note")
    async def note(payload: dict[str, str]) -> None:
        texts.append(payload["when"])

    await world.rows("create table public.users (id int, zone text)")
    await world.rows("insert into public.users values (7, 'America/New_York')")
    await world.rows("create table public.bookings (id int, user_id int, starts_at timestamptz)")
    await world.rows(
        "insert into public.bookings values (1, 7, timestamp '2026-03-29 03:30' at time zone 'Europe/Berlin')"
    )
    database = (await world.one("select quote_ident(current_database())")) or ""
    await world.rows(f"alter database {database} set timezone = '{session}'")
    query = f"""
    select b.id as item, b.starts_at as item_at, jsonb_build_object('when', {TEXT}) as payload
    from bookings as b join users as u on u.id = b.user_id where b.starts_at between :from and :to
    """
    world.reminders = [day_before(query=query)]
    found = []
    for moment in ("03-28 01:29", "03-28 01:30"):
        await world.rows("update crontick.test_clock set ahead = %s::timestamptz - now()", f"2026-{moment}:30+00")
        await world.tick(note)
        found.append(list(texts))
    assert found == [[], ["28 Mar 21:30"]]


@pytest.mark.usefixtures("bookings")
async def test_another_lead_sends_nothing_twice(world: World) -> None:
    sent: list[int] = []
    await book(world, 1, 20)
    await book(world, 2, 40)
    await world.tick(noting(sent))
    world.reminders = [day_before(lead=2 * DAY, late=2 * DAY)]
    await world.tick(noting(sent))
    assert sent == [1, 2]


@pytest.mark.usefixtures("bookings")
async def test_a_moved_item_is_reminded_of_again_at_its_new_time(world: World) -> None:
    sent: list[int] = []
    await book(world, 1, 20)
    await world.tick(noting(sent))
    await world.rows("update public.bookings set at = at + interval '2 days'")
    await world.tick(noting(sent))
    assert sent == [1]
    await world.later(48 * 3600)
    await world.tick(noting(sent))
    assert sent == [1, 1]


@pytest.mark.usefixtures("bookings")
@pytest.mark.parametrize(
    ("change", "said"),
    [("delete from public.bookings", "gone"), ("update public.bookings set at = at + interval '3 h'", "moved")],
)
async def test_what_is_gone_or_moved_is_found_out_just_before_a_late_send(world: World, change: str, said: str) -> None:
    sent: list[int] = []
    await book(world, 1, 10)
    await world.tick(noting(sent, fail=1))
    await world.rows(change)
    await world.later(100)
    summary = await world.tick(noting(sent))
    assert (summary.cancelled, sent.count(1)) == (1, 1 if said == "moved" else 0)
    assert said in await world.one("select last_error from crontick.jobs where status = 'cancelled'")


@pytest.mark.usefixtures("bookings")
async def test_what_is_still_wanted_goes_out_late(world: World) -> None:
    sent: list[int] = []
    await book(world, 1, 10)
    await world.tick(noting(sent, fail=1))
    await world.later(100)
    await world.tick(noting(sent))
    assert sent == [1]


@pytest.mark.usefixtures("bookings")
async def test_a_dead_reminder_is_not_enqueued_again(world: World) -> None:
    @kind("note", max_attempts=1)
    async def note(payload: Any) -> None:
        raise ValueError

    await book(world, 1, 10)
    await world.tick(note)
    await world.tick(note)
    assert await world.counts() == {"dead": 1}


@pytest.mark.usefixtures("bookings")
async def test_broken_and_slow_queries_are_warnings_and_stop_no_other(world: World) -> None:
    sent: list[int] = []
    slow = "select 1 as item, crontick.now() as item_at, null as payload from pg_sleep(20)"
    world.reminders = [
        day_before(name="broken", query="select 1/0 as item, now() as item_at, null as payload"),
        day_before(
            name="unwise", query="delete from public.bookings returning id as item, at as item_at, null as payload"
        ),
        day_before(name="zoneless", query="select 1 as item, timestamp '2026-12-01' as item_at, null as payload"),
        day_before(name="sleepy", query=slow),
        day_before(),
    ]
    await book(world, 1, 10)
    job = await noting([]).enqueue(world.conn, {"booking": 7})
    summary = await world.tick(noting(sent))
    assert (sorted(sent), await world.status(job)) == ([1, 7], ["succeeded"])
    warned = " ".join(summary.warnings)
    assert "SQLSTATE 22012): `crontick reminders preview broken` says more" in warned
    assert [name in warned for name in ("broken", "unwise", "zoneless", "sleepy", "day")] == [True] * 4 + [False]
    assert await world.one("select count(*) from public.bookings") == 1


def test_many_reminders_share_the_time_of_one_trip() -> None:
    assert [ask_for_items(day_before(), among=number)[0][1] for number in (1, 3, 30)] == [
        [b"2000"],
        [b"2000"],
        [b"200"],
    ]


@pytest.mark.usefixtures("bookings")
async def test_one_bad_item_does_not_stop_those_behind_it(world: World) -> None:
    sent: list[int] = []
    huge = "jsonb_build_object('booking', b.id, 'x', case when b.id = 0 then repeat('x', 70000) end)"
    world.reminders = [day_before(query=QUERY.replace("jsonb_build_object('booking', b.id)", huge))]
    for n in range(20):
        await book(world, n, 10 + n * 0.01)

    @kind("note")
    async def note(payload: dict[str, Any]) -> None:
        sent.append(payload["booking"])

    summary = await world.tick(note)
    assert sent == list(range(1, 20))
    assert [(trouble.reminder, trouble.error) for trouble in summary.errors] == [
        ("day", "1 items were refused at enqueue")
    ]
    await world.tick(note)
    assert len(sent) == 19


@pytest.mark.usefixtures("bookings")
async def test_two_hundred_and_fifty_items_go_out_over_three_ticks_the_soonest_first(world: World) -> None:
    sent: list[int] = []
    await world.rows(
        "insert into public.bookings select n, crontick.now() + interval '5 h' + n * interval '1 minute'"
        " from generate_series(1, 250) as n"
    )
    summaries = [await world.tick(noting(sent)) for _ in range(4)]
    assert [summary.more for summary in summaries] == [True, True, False, False]
    assert [summary.succeeded for summary in summaries] == [100, 100, 50, 0]
    assert sorted(sent[:100]) == list(range(1, 101))
    assert sorted(sent) == list(range(1, 251))


@pytest.mark.usefixtures("bookings")
async def test_the_last_of_many_items_of_one_moment_are_found_behind_the_records_of_the_others(
    world: World,
) -> None:
    """Compared with each other they would take longer than the query's two seconds."""
    sent: list[int] = []
    await world.rows(
        "insert into public.bookings select n, date_trunc('hour', crontick.now()) + interval '9 h'"
        " from generate_series(1, 3500) as n"
    )
    await world.rows("create index on public.bookings (at)")
    await world.rows("analyze public.bookings")
    await world.rows(
        "insert into crontick.reminder_records (reminder, item_digest, item_at, item, recorded_at)"
        " select 'day', sha256(convert_to(b.id::text, 'UTF8')), b.at, b.id::text, crontick.now()"
        " from public.bookings as b where b.id <= 3450"
    )
    summary = await world.tick(noting(sent))
    assert (summary.warnings[1:], summary.succeeded, summary.more) == ([], 50, False)
    assert sorted(sent) == list(range(3451, 3501))


@pytest.mark.usefixtures("bookings")
async def test_the_next_item_s_time_is_part_of_when_the_next_tick_is_needed(world: World) -> None:
    await book(world, 1, 30)
    summary = await world.tick(noting([]))
    assert summary.next_due_at == await world.one("select at - interval '24 h' from public.bookings")
    await noting([]).enqueue(world.conn, {"booking": 1}, run_at=60)
    assert (await world.tick(noting([]))).next_due_at == await world.one("select run_at from crontick.jobs")


@pytest.mark.usefixtures("bookings")
async def test_an_async_generator_reminds_too(world: World) -> None:
    @reminder("gen", kind="note", lead=HOUR)
    async def gen(start: datetime, end: datetime) -> AsyncIterator[Item]:
        assert end - start == HOUR + DAY
        yield Item(item="7", item_at=moment, payload={"booking": 7})
        yield Item(item="8", item_at=moment, payload={"booking": 8})
        yield Item(item="9", item_at=moment + HOUR, payload={"booking": 9})

    @reminder("bad", kind="note", lead=HOUR)
    async def bad(start: datetime, end: datetime) -> AsyncIterator[Item]:
        if end > start:
            raise OSError("the calendar is down")
        yield Item(item="none", item_at=start, payload={})

    sent: list[int] = []
    moment = datetime.now(UTC) + timedelta(minutes=5)
    world.reminders = [bad, gen]
    summary = await world.tick(noting(sent))
    await world.tick(noting(sent))
    assert (sorted(sent), summary.next_due_at) == ([7, 8], moment)
    assert any("reminder bad: its generator failed (OSError)" in warning for warning in summary.warnings)


@pytest.mark.usefixtures("bookings")
async def test_a_generator_is_asked_by_the_database_s_clock(world: World) -> None:
    @reminder("gen", kind="note", lead=HOUR)
    async def gen(start: datetime, end: datetime) -> AsyncIterator[Item]:
        asked.append(start)
        yield Item(item="7", item_at=moment, payload={"booking": 7})

    sent: list[int] = []
    asked: list[datetime] = []
    world.reminders = [gen]
    await world.later(10 * 24 * 3600)
    before = await world.one("select crontick.now()")
    moment = before + timedelta(minutes=30)
    await world.tick(noting(sent))
    assert (sent, before <= asked[0] < moment) == ([7], True)


@pytest.mark.parametrize("wrong", ["select 1 as item, now() as item_at, null as payload from pg_sleep(20)", None])
@pytest.mark.usefixtures("bookings")
async def test_a_reminder_that_could_not_say_what_comes_up_is_asked_again_in_a_quarter_of_an_hour(
    world: World, wrong: str | None
) -> None:
    @reminder("gen", kind="note", lead=HOUR)
    async def gen(start: datetime, end: datetime) -> AsyncIterator[Item]:
        if end > start:
            raise OSError("the calendar is down")
        yield Item(item="none", item_at=start, payload={})

    sent: list[int] = []
    asked = day_before(name="day", query=wrong) if wrong else gen
    world.reminders = [asked]
    summary = await world.tick(noting(sent))
    assert (summary.more, f"reminder {asked.name}: its " in summary.warnings[-1]) == (False, True)
    assert summary.next_due_at == await world.one("select max(started_at) + interval '15 min' from crontick.ticks")
    await book(world, 1, 20)
    world.reminders = [day_before()]
    await world.tick(noting(sent))
    assert sent == [1]


@pytest.mark.usefixtures("bookings")
async def test_a_tick_with_nothing_to_remind_of_is_quiet(world: World) -> None:
    summary = await world.tick(noting([]))
    assert (summary.reminders, summary.errors, summary.claimed, summary.stop_reason) == ({}, [], 0, "empty")


@pytest.mark.usefixtures("bookings")
async def test_a_reminder_that_enqueued_something_adds_one_round_trip(world: World, proxy: Proxy) -> None:
    await world.tick(noting([]), url=proxy.url)
    assert proxy.round_trips == 1
    await book(world, 1, 10)
    proxy.round_trips = 0
    await world.tick(noting([]), url=proxy.url)
    assert proxy.round_trips == 3
