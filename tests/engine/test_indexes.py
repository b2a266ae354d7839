"""Every index is there for a query that uses it, on tables too large to be read whole."""

from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest

from crontick.jobs import Context, Permanent, kind
from crontick.jobs.reminders import Reminder
from crontick.sql import SCHEMA
from tests.engine.conftest import World
from tests.worlds.waiting import async_until

pytestmark = pytest.mark.anyio
HOUR = timedelta(hours=1)
FULL = """
insert into crontick.unfinished_jobs (kind, queue, priority, run_at, due_at, created_at, updated_at, payload, held_by)
select case when n % 1000 = 0 then 'mail' else 'other' end, 'default', 0, now() + n * interval '1 minute',
    case when n % 1000 < 2 then 'infinity' else now() + n * interval '1 minute' end, now(), now(), '{}',
    case n % 1000 when 0 then 'kind' when 1 then 'suspect' end
from generate_series(1, 20000) as n;
insert into crontick.finished_jobs
    (id, run_at, created_at, finished_at, priority, attempt, kind, queue, status, payload)
select -n, now(), now(), now() - interval '8 days' + n * interval '10 s', 0, 1, 'mail', 'default',
    case n % 2000 when 0 then 'dead' when 1 then 'cancelled' else 'succeeded' end, '{}'
from generate_series(1, 60000) as n;
insert into crontick.successes (ended_at, job_ids)
select max(f.finished_at), array_agg(f.id)
from crontick.finished_jobs as f where f.status = 'succeeded' group by f.id / 10;
insert into crontick.attempts (job, claim, tick, ended_at, number, retryable, kind, outcome, alone)
select -n, n, 1, now(), 1, true, 'mail', case when n % 2000 = 0 then 'rescued' else 'failed' end, true
from generate_series(1, 20000) as n;
insert into crontick.markers (kind, digest, key, state, job, claim, reserved_at, settled_at)
select 'mail', sha256(n::text::bytea), n::text,
    case n % 2000 when 0 then 'in_doubt' when 1 then 'reserved' else 'sent' end, -n, -n, now(), now()
from generate_series(1, 20000) as n;
insert into crontick.unique_keys (digest, job, free_at, mode, kind, key)
select sha256(('x' || n)::bytea), n, 'infinity', case when n % 2 = 0 then 'active' else 'waiting' end, 'mail', n::text
from generate_series(1, 20000) as n;
insert into crontick.idempotency_keys
select sha256(n::text::bytea), '', '[]', now() + interval '1 day' from generate_series(1, 2000) as n;
insert into crontick.ticks (opening, started_at, deadline, lease_expires_at, ended_at)
select -n, now() - n * interval '1 minute', now(), now(), now() from generate_series(1, 20000) as n;
insert into crontick.reminder_records (reminder, item_digest, item_at, item, recorded_at, job)
select 'day', sha256(n::text::bytea), now() - interval '1 day', n::text, now(), -n from generate_series(1, 20000) as n;
insert into crontick.audit_log (at, by, session_role, action, target, job)
select now(), 'ann', 'ann', 'cancel', 'job', -n from generate_series(1, 20000) as n;
insert into crontick.claims select -n, -n, now() + interval '1 h', false, null, '{}' from generate_series(1, 2000) as n;
insert into crontick.cancel_requests select -n, now(), 'ann' from generate_series(1, 2000) as n;
insert into crontick.deployments select n::text, '1', '{}', now(), now() from generate_series(1, 2000) as n;
insert into crontick.kinds select 'k' || n, 'default', 0, 5, now() from generate_series(1, 2000) as n;
insert into crontick.unsealed select 'other', n from generate_series(1, 20000) as n;
insert into crontick.report_files (run, job, report, format, gzip, digest, parts, started_at, progressed_at)
select -n, -n, 'r', 'csv', false, '', 1, now() - n * interval '1 minute', now() from generate_series(1, 20000) as n;
insert into crontick.report_parts select -n, 0, 1, '' from generate_series(1, 20000) as n;
insert into crontick.limit_lines
select 'limit:x:' || md5(n::text), 'x', n::text, '', now(), 'infinity' from generate_series(1, 2000) as n;
insert into crontick.pauses select 'queue', 'q' || n, now(), 'ann', null, 'ann' from generate_series(1, 2000) as n;
insert into crontick.webhook_endpoints
select 'e' || n, 'https://x.example', 'whsec_', null, null, now(), now() from generate_series(1, 2000) as n;
insert into crontick.breakers (hold, target, kind, state, look_at, opened_at, changed_at, by)
select crontick.breaker_hold('kind:k' || n), 'kind:k' || n, 'k' || n,
    case when n % 100 = 0 then 'open' else 'closed' end, now() + interval '1 day', case when n % 100 = 0 then now() end,
    now(), 'crontick'
from generate_series(1, 2000) as n;
insert into crontick.target_calls (hold, target, kind, verdict)
select crontick.breaker_hold('kind:k' || n), 'kind:k' || n, 'k' || n, 'failed' from generate_series(1, 5000) as n;
insert into crontick.declared_schedules (
    name, cron, tz, kind, payload, catch_up, at_most, late_seconds, overlap, spread_seconds, starts_at, next_at,
    look_at, error, deployment, synced_at
)
select 's' || n, '0 0 * * *', 'UTC', 'mail', '{}', 'latest', 1, 0, 'skip', 0, now(), now() + interval '2 days',
    now() + interval '1 day', case when n % 1000 = 0 then 'it is wrong' end, '', now()
from generate_series(1, 2000) as n;
insert into crontick.alerts (name, subject, since, started_at, ended_at, counted, what, mend)
select 'doubts', n::text, now(), now(), now(), 1, '', '' from generate_series(1, 5000) as n;
insert into crontick.alert_messages (alert, channel, event, next_try_at, told_at)
select n, 'log', 'started', now(), now() from generate_series(1, 5000) as n;
insert into crontick.alert_silences select 'n' || n, now() + interval '1 day', now(), 'ann', null, 'ann'
from generate_series(1, 2000) as n;
insert into crontick.watchers
select n, 'host', 7, '1', interval '1 s', false, now(), now() from generate_series(1, 2000) as n;
"""
LOOKED_AT = (
    "select * from crontick.dead_letters order by id limit 20",
    "select * from crontick.doubts where kind = 'mail' order by reserved_at limit 20",
    "select * from crontick.audit where job = -7",
    "select * from crontick.attempts where job = -7 order by number",
    "select * from crontick.ticks order by started_at desc limit 1",
    "select sum(asked) from crontick.ticks where asked_at > now() - interval '1 hour'",
    "select * from crontick.reminder_records where job = -7",
    "select * from crontick.audit where id = 7",
    "select crontick.enqueue_once(sha256('7'), '', '[]')",
    "select * from crontick.webhook_endpoints where name = any(array['e7'])",
    "select * from crontick.list_unsealed(array['mail'], 20)",
    "select * from crontick.report_runs where id = -7",
    "select * from crontick.report_files order by started_at limit 20",
    "select * from crontick.report_parts where run = -7",
    "select crontick.tend_breakers(crontick.now(), array['mail'], array['mail'])",
    "select crontick.broken_until('k7', '{}')",
    "select exists (select from crontick.breakers as b where b.state <> 'closed')",
    "select crontick.due_schedules(crontick.now(), array['mail'])",
    "select crontick.schedule_warnings(crontick.now(), array['mail'])",
    "select why from crontick.schedules where name = 's7'",
    "select crontick.forget_watcher(7)",
)
SPARED = {
    "installation_pkey": "one row",
    "test_clock_pkey": "one row",
    "tick_slots_pkey": "a hundred rows",
    "ledger_pkey": "a row a file, read by migrate alone",
}


@kind("mail", marker="key", max_attempts=1)
async def mail(payload: dict[str, Any], ctx: Context) -> None:
    async with ctx.once():
        if payload.get("die"):
            raise Permanent("no")
    ctx.progress(1)


async def dies(world: World) -> None:
    """A tick that claims three times, at last from a line with room for one, and is killed."""
    await mail.enqueue_many(world.conn, [{"key": key} for key in "abcd"])
    opening = "select crontick.open_tick(5, %s, 'test', '', '', 25, 40, 4, false, '{mail}', '', null, '', '', '')"
    await world.rows(opening, SCHEMA)
    for claim, running in ((7, 0), (8, 1)):
        claiming = "select crontick.claim(5, %s, 1, %s, 0, 40, '{mail}', null, null, null, null, true, false)"
        await world.rows(claiming, claim, running)
    limited = "select crontick.claim(5, 9, 2, 2, 0, 40, '{mail}', null, null, null, null, true, false, %s)"
    await world.rows(limited, '[{"name": "m", "kinds": ["mail"], "spacing_us": 9000000, "burst": 1, "said": ""}]')


@pytest.mark.parametrize("world", ["direct"], indirect=True)  # a pooler's server tells its counts when it likes
async def test_every_index_is_used(world: World) -> None:
    await world.rows(FULL)
    await world.rows("vacuum (analyze)")
    await mail.enqueue(world.conn, {"key": "k"}, unique_key="k")
    await mail.enqueue_many(world.conn, [{"key": "1"}, {"key": "2"}], group_key="g")
    dead = await mail.enqueue(world.conn, {"key": "x", "die": True})
    late = await mail.enqueue(world.conn, {"key": "y"}, unique_key="w", unique_for="waiting", run_at=3600)
    await world.tick(mail)
    await world.rows("select crontick.requeue(%s, 'ann')", dead)
    await world.rows("select crontick.cancel(%s, 'ann')", late)
    await world.rows("select crontick.why(%s)", dead)
    await world.rows("select crontick.pause('kind', 'mail', 'ann')")
    await world.rows("select crontick.resume('kind', 'mail', 'ann')")
    await dies(world)
    await world.later(600)
    query = "select 'i' as item, now() + interval '9 s' as item_at, null as payload"
    world.reminders = [Reminder(name="day", kind="mail", lead=HOUR, late=HOUR, query=query)]
    await world.tick(mail)
    for query in LOOKED_AT:
        await world.rows(query)
    with suppress(AssertionError):  # a backend tells its counts within a second; the last line says what is missing
        await async_until(lambda: all_used(world))
    assert await unused(world) == set()


async def unused(world: World) -> set[str]:
    """The indexes that no query has used, but those that are spared."""
    asked = "select indexrelname from pg_stat_user_indexes where schemaname = 'crontick' and idx_scan = 0"
    return {name for (name,) in await world.rows(asked)} - SPARED.keys()


async def all_used(world: World) -> bool:
    return not await unused(world)
