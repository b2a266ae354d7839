"""Each condition starts once and ends once, over fifty ticks and with two ticks at once."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

import pytest

from crontick.jobs import Context, Permanent, kind
from tests.alerts.conftest import Alarmed

pytestmark = pytest.mark.anyio

TICKS: Final = 50


@kind("doomed")
async def doomed(payload: dict[str, Any], ctx: Context) -> None:
    raise Permanent("the receiver said: secret words")


@kind("failing")
async def failing(payload: dict[str, Any], ctx: Context) -> None:
    raise ValueError("the same words")


KINDS: Final = (doomed, failing)
Step = Callable[[Alarmed], Awaitable[object]]


@dataclass(frozen=True)
class Case:
    """What makes an alert of this name and subject, and what ends it."""

    name: str
    subject: str
    begin: Step
    end: Step


def sql(text: str) -> Step:
    async def run(world: Alarmed) -> None:
        await world.conn.execute(text.encode())

    return run


async def die(world: Alarmed) -> None:
    await doomed.enqueue(world.conn, {})
    await world.tick(*KINDS)


async def fail(world: Alarmed) -> None:
    await failing.enqueue_many(world.conn, [{}] * 20)
    await world.tick(*KINDS)


async def forget(world: Alarmed) -> None:
    """An hour and more goes by; what waits for that time is cancelled first."""
    await world.rows("select crontick.cancel(id, 'me', 'done') from crontick.unfinished_jobs")
    await world.later(3700)


CASES: Final = (
    Case("dead_letters", "", die, sql("select crontick.ignore(id, 'me', 'seen') from crontick.dead_letters")),
    Case("same_error", "failing", fail, forget),
    Case(
        "unknown_kind",
        "misspelt",
        sql("select crontick.enqueue('misspelt')"),
        sql("select crontick.cancel(id, 'me', 'misspelt') from crontick.jobs where kind = 'misspelt'"),
    ),
    Case(
        "oldest_due",
        "slow",
        sql("select crontick.enqueue('failing', queue => 'slow', run_at => crontick.now() - interval '2 hours')"),
        sql("select crontick.cancel(id, 'me', 'late') from crontick.jobs where queue = 'slow'"),
    ),
    Case(
        "missing_key",
        "k9",
        sql(
            "select crontick.enqueue('failing', queue => 'sealed');"
            " update crontick.unfinished_jobs set held_by = 'key:k9', due_at = 'infinity' where queue = 'sealed'"
        ),
        sql("select crontick.cancel(id, 'me', 'lost') from crontick.jobs where held_by = 'key:k9'"),
    ),
    Case(
        "doubts",
        "send_email",
        sql(
            "insert into crontick.markers (kind, digest, key, state, job, claim, reserved_at)"
            " values ('send_email', 'd', 'd', 'in_doubt', 7, 7, crontick.now())"
        ),
        sql("update crontick.markers set state = 'sent', settled_at = crontick.now()"),
    ),
    Case(
        "breaker_open",
        "endpoint:crm",
        sql(
            "insert into crontick.breakers (hold, target, kind, state, opened_at, retry_at, look_at, changed_at, by)"
            " values ('breaker:' || md5('crm'), 'endpoint:crm', 'deliver_webhook', 'open', crontick.now(),"
            " crontick.now() + '1 day', crontick.now() + '1 day', crontick.now(), 'crontick')"
        ),
        sql("delete from crontick.breakers"),
    ),
    Case(
        "schedule_failing",
        "nightly",
        sql(
            "insert into crontick.declared_schedules (name, cron, tz, kind, payload, catch_up, at_most, late_seconds,"
            " overlap, spread_seconds, starts_at, look_at, deployment, synced_at, skips_in_a_row, jobs)"
            " values ('nightly', '0 0 1 1 *', 'UTC', 'failing', '{}', 'latest', 1, 0, 'skip', 0, crontick.now(),"
            " crontick.now() + '1 day', '', crontick.now(), 3, '{7}')"
        ),
        sql("update crontick.declared_schedules set skips_in_a_row = 0"),
    ),
    Case(
        "kind_paused",
        "failing",
        sql("select crontick.pause('kind', 'failing', 'crontick', 'five processes died')"),
        sql("select crontick.resume('kind', 'failing', 'me', 'mended')"),
    ),
    Case(
        "endpoint_disabled",
        "crm",
        sql(
            "insert into crontick.pauses (what, name, paused_at, by, session_role, status_code)"
            " values ('endpoint', 'crm', crontick.now(), 'crontick', '', 410)"
        ),
        sql("delete from crontick.pauses"),
    ),
    Case(
        "tick_died",
        "",
        sql(
            "insert into crontick.ticks (opening, started_at, deadline, lease_expires_at) values"
            " (1, crontick.now() - interval '3 minutes', crontick.now() - interval '2 minutes',"
            " crontick.now() - interval '1 minute')"
        ),
        forget,
    ),
    Case(
        "dead_unresolved",
        "",
        sql(
            "insert into crontick.finished_jobs (id, run_at, created_at, finished_at, priority, attempt, kind, queue,"
            " status, payload) select n, crontick.now(), crontick.now(), crontick.now() - interval '1 day', 0, 1,"
            " 'doomed', 'default', 'dead', '{}' from generate_series(1000001, 1010001) as n"
        ),
        sql("update crontick.finished_jobs set resolution = 'ignored' where id = 1000001"),
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
async def test_it_starts_once_and_ends_once_whatever_ticks_overlap(world: Alarmed, case: Case) -> None:
    await world.tick(*KINDS, queues=["default"])
    await case.begin(world)
    for _ in range(TICKS // 2):
        await asyncio.gather(world.tick(*KINDS, queues=["default"]), world.tick(*KINDS, queues=["default"]))
    assert (case.name, case.subject) in [(name, subject.partition(" ")[0]) for name, subject in await world.active()]
    await case.end(world)
    for _ in range(TICKS // 2):
        await asyncio.gather(world.tick(*KINDS, queues=["default"]), world.tick(*KINDS, queues=["default"]))
    assert await world.active() == []
    told = [line.split(":")[0] for line in world.heard if line.startswith(case.name)]
    assert told == [case.name, f"{case.name} is over"]


async def test_the_summary_names_what_is_active_and_the_log_has_its_first_error(
    world: Alarmed, caplog: pytest.LogCaptureFixture
) -> None:
    await die(world)
    summary = await world.tick(*KINDS)
    assert "alerts are active: dead_letters: `crontick alerts` tells since when, and the mend" in summary.warnings
    [record] = [one for one in caplog.records if one.getMessage().startswith("alert dead_letters")]
    assert "secret words" in str(record.fields["error"])  # type: ignore[attr-defined] # given as extra
    [request] = world.receiver.requests
    assert b"secret words" not in request.body
    assert b"`crontick dead list`" in request.body


async def test_what_is_switched_off_is_not_looked_for(world: Alarmed, tmp_path: Any) -> None:
    (tmp_path / "crontick.toml").write_text('[alerts]\noff = ["dead_letters"]\n')
    world.settings["config_path"] = tmp_path / "crontick.toml"
    await die(world)
    assert (await world.active(), world.heard) == ([], [])


async def test_a_threshold_is_reached_by_that_many(world: Alarmed, tmp_path: Any) -> None:
    (tmp_path / "crontick.toml").write_text("[alerts]\ndead_letters = 2\n")
    world.settings["config_path"] = tmp_path / "crontick.toml"
    await die(world)
    assert await world.active() == []
    await die(world)
    assert await world.active() == [("dead_letters", "")]
