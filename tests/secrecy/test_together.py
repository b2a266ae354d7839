"""Sealing and rotating beside other ticks, beside transactions of users, and through deaths."""

import asyncio
import subprocess
import sys
from typing import Any

import psycopg
import pytest

from crontick.jobs import Context, kind
from crontick.jobs.bounds import Bounds
from crontick.jobs.caller import Caller
from crontick.jobs.exchange import Exchanges
from crontick.jobs.lend import Lender
from crontick.jobs.link import Build, Link
from crontick.jobs.process import run_tick
from crontick.jobs.request import TickRequest
from crontick.jobs.rotate import Rotation, rotate
from crontick.jobs.sealing import Keyring, read_keyring
from crontick.jobs.stop import Stop
from crontick.jobs.supplies import TickSupplies
from crontick.jobs.tick import tick
from crontick.sql.wire import Answer
from tests.secrecy.conftest import Vault, new_key
from tests.secrecy.logins import SECRET
from tests.worlds.process import Processes
from tests.worlds.proxy import Proxy
from tests.worlds.waiting import async_until

pytestmark = pytest.mark.anyio

PAYLOAD = {"to": "ada@users.example", "token": SECRET}
IN_CLEAR = "select crontick.enqueue('login', jsonb_build_object('token', %s::text))"
NOT_DUE = IN_CLEAR.replace("))", "), crontick.now() + interval '1h')")
MANY = """
select count(crontick.enqueue(
    'login', jsonb_build_object('token', %s::text, 'n', n), run_at => crontick.now() + n * interval '1 day'
))
from generate_series(1, 300) as n
"""


@kind("login", secret=["token"], backoff=[1])
async def login(payload: dict[str, Any]) -> None:
    assert payload["token"] == SECRET


def rotated(url: str, keyring: Keyring) -> Rotation:
    with psycopg.connect(url, autocommit=True) as conn:
        *_, last = rotate(conn, keyring)
    return last


async def test_five_ticks_that_seal_at_once_seal_each_row_once(vault: Vault) -> None:
    await vault.tick(login)
    await vault.one(MANY, SECRET)
    await asyncio.gather(*(vault.tick(login) for _ in range(5)))
    await vault.tick(login)
    assert SECRET not in await vault.lying()
    assert await vault.one("select count(*) from crontick.unsealed") == 0
    await vault.later(400 * 86_400)
    assert (await vault.tick(login, limit=1000)).succeeded == 300


async def test_a_row_that_somebody_holds_is_sealed_by_a_later_tick_and_waited_for_by_none(vault: Vault) -> None:
    await vault.tick(login)
    job = await vault.one(
        "select crontick.enqueue('login', %s::jsonb, crontick.now() + interval '1h')",
        '{"token": "hunter2-correct-horse"}',
    )
    async with await psycopg.AsyncConnection.connect(vault.url) as user:
        await user.execute("select from crontick.unfinished_jobs where id = %s for update", (job,))
        summary = await vault.tick(login)
        assert summary.duration_ms < 900, "less than the lock's time-out"
        assert SECRET in await vault.lying()
        await user.rollback()
    await vault.tick(login)
    assert SECRET not in await vault.lying()


async def test_what_a_killed_tick_left_in_clear_is_sealed_by_the_next(vault: Vault, processes: Processes) -> None:
    await vault.tick(login)
    job = await vault.one(IN_CLEAR, SECRET)
    child = processes.run("-m", "tests.secrecy.doomed", vault.url)
    assert child.line() == "began"
    child.kill()
    assert SECRET in await vault.lying()
    await vault.later(3600)
    for _ in range(2):
        await vault.tick(login)
    assert (await vault.status(job))[0] == "succeeded"
    assert SECRET not in await vault.lying()


async def test_a_lost_answer_seals_and_settles_once(vault: Vault, proxy: Proxy) -> None:
    @kind("login", secret=["token"])
    async def losing(payload: dict[str, Any], ctx: Context) -> None:
        assert payload["token"] == SECRET
        proxy.lose_next_answer = True

    await vault.tick(losing)
    await vault.one(IN_CLEAR, SECRET)
    summary = await run_tick(vault.deployment(losing, url=proxy.url), TickRequest())
    assert (summary.succeeded, summary.lost) == (1, 0)
    assert SECRET not in await vault.lying()


async def test_rotation_skips_what_runs_and_a_second_one_finds_the_rest(vault: Vault) -> None:
    began, go_on = asyncio.Event(), asyncio.Event()

    @kind("login", secret=["token"])
    async def waiting(payload: dict[str, Any]) -> None:
        began.set()
        await go_on.wait()

    running = await login.enqueue(vault.conn, PAYLOAD)
    await login.enqueue_many(vault.conn, [PAYLOAD] * 3, run_at=3600)
    keyring = read_keyring(f"{new_key('k2')},{vault.key}")
    one_tick = asyncio.create_task(vault.tick(waiting))
    await began.wait()
    first = await asyncio.to_thread(rotated, vault.url, keyring)
    go_on.set()
    assert (first.sealed, first.running, first.left) == (3, 1, 1)
    assert (await one_tick).succeeded == 1
    second = await asyncio.to_thread(rotated, vault.url, keyring)
    assert (second.sealed, second.left) == (1, 0)
    assert (await vault.payload(running))["token"].startswith("k2:")


async def test_rotation_beside_ticks_loses_no_job(vault: Vault) -> None:
    await login.enqueue_many(vault.conn, [PAYLOAD] * 400)
    new = new_key("k2")
    keys = (new, vault.key)
    ticks = [asyncio.create_task(vault.tick(login, keys=keys, limit=100)) for _ in range(4)]
    await asyncio.to_thread(rotated, vault.url, read_keyring(",".join(keys)))
    summaries = await asyncio.gather(*ticks)
    summaries.append(await vault.tick(login, keys=keys, limit=400))  # what was being sealed when a claim came by
    assert sum(summary.succeeded for summary in summaries) == 400
    last = await asyncio.to_thread(rotated, vault.url, read_keyring(",".join(keys)))
    assert last.left == 0
    assert (await asyncio.to_thread(rotated, vault.url, read_keyring(new))).left == 0, "the old key can go"


async def test_rotation_does_not_wait_for_who_holds_a_row(vault: Vault) -> None:
    job = await login.enqueue(vault.conn, PAYLOAD, run_at=3600)
    async with await psycopg.AsyncConnection.connect(vault.url) as user:
        await user.execute("select from crontick.unfinished_jobs where id = %s for update", (job,))
        keyring = read_keyring(f"{new_key('k2')},{vault.key}")
        found = await asyncio.wait_for(asyncio.to_thread(rotated, vault.url, keyring), 10)
        assert (found.sealed, found.held) == (0, 1)


async def test_a_stopped_rotation_is_begun_again_and_does_only_the_rest(vault: Vault, monkeypatch: Any) -> None:
    monkeypatch.setattr("crontick.jobs.rotate.PAGE_ROWS", 10)
    await login.enqueue_many(vault.conn, [PAYLOAD] * 25, run_at=3600)
    keyring = read_keyring(f"{new_key('k2')},{vault.key}")

    def stopped() -> int:
        with psycopg.connect(vault.url, autocommit=True) as conn:
            return next(iter(rotate(conn, keyring))).sealed

    assert await asyncio.to_thread(stopped) == 10
    again = await asyncio.to_thread(rotated, vault.url, keyring)
    assert (again.looked_at, again.sealed) == (25, 15)


SEAL = """
select crontick.seal_jobs(%s, jsonb_build_array(jsonb_build_object(
    'id', j.id, 'kind', j.kind, 'sealed', '{"token": "sealed"}'::jsonb,
    'digest', encode(sha256(convert_to(j.payload::text || %s, 'UTF8')), 'hex')
))::json) from crontick.unfinished_jobs as j where j.id = %s
"""


async def test_what_runs_is_sealed_by_its_own_tick_alone(vault: Vault) -> None:
    began, go_on = asyncio.Event(), asyncio.Event()

    @kind("login")
    async def waiting(payload: dict[str, Any]) -> None:
        began.set()
        await go_on.wait()

    await vault.tick(waiting)
    job = await vault.one(IN_CLEAR, SECRET)
    one_tick = asyncio.create_task(vault.tick(waiting))
    await began.wait()
    other, own = await vault.one("select array_agg(opening order by id) from crontick.ticks")
    assert await vault.one(SEAL, None, "", job) == []
    assert await vault.one(SEAL, other, "", job) == []
    assert await vault.one(SEAL, own, "", job) == [job]
    go_on.set()
    assert (await one_tick).succeeded == 1
    assert await vault.payload(job) == {"token": "sealed"}


async def test_a_payload_that_was_changed_meanwhile_is_left(vault: Vault) -> None:
    job = await vault.one(NOT_DUE, SECRET)
    assert await vault.one(SEAL, None, "as it was", job) == []
    assert await vault.payload(job) == {"token": SECRET}


async def test_a_tick_that_its_opening_closed_is_open_again_to_seal(vault: Vault) -> None:
    job = await vault.one(NOT_DUE, SECRET)
    await vault.tick(kind("other")(login.function))
    opening = await vault.one("select opening from crontick.ticks where ended_at is not null order by id desc limit 1")
    await vault.one(SEAL, opening, "", job)
    assert await vault.one("select ended_at is null from crontick.ticks where opening = %s", opening)
    assert await vault.one("select taken_until > crontick.now() from crontick.tick_slots where opening = %s", opening)


async def test_notes_of_rows_that_retention_took_go_with_the_next_seal(vault: Vault) -> None:
    await vault.tick(login)
    gone = await vault.one(NOT_DUE, SECRET)
    await vault.one("delete from crontick.unfinished_jobs where id = %s returning 1", gone)
    await vault.one(NOT_DUE, SECRET)
    await vault.tick(login)
    assert await vault.one("select count(*) from crontick.unsealed") == 0


class Heard(Link):
    """A link that remembers what was said."""

    said: list[bytes]

    async def ask(self, build: Build, *, patience_seconds: float | None = None, ours: int = 1) -> list[Answer]:
        self.said += [text for segment in build(repeat=False) for text, _ in segment]
        return await super().ask(build, patience_seconds=patience_seconds, ours=ours)


async def said_by_a_tick(vault: Vault, keys: tuple[str, ...], *kinds: Any) -> str:
    deployment = vault.deployment(*kinds, keys=keys)
    bounds = Bounds(limit=100, concurrency=20, budget_seconds=25, host_limit_seconds=None, stop=Stop())
    link = Heard(vault.url, lambda: bounds.left)
    link.said = []
    supplies = TickSupplies(link, deployment, bounds, Lender(vault.url, 0))
    try:
        await tick(Exchanges(link, deployment, bounds, TickRequest()), supplies, bounds, Caller("test"))
    finally:
        await supplies.close()
        await link.close()
    return b"\n".join(link.said).decode()


async def test_a_tick_without_keys_says_nothing_of_secrets(vault: Vault) -> None:
    plain = kind("plain")(login.function)
    for keys, heard in (((), False), ((vault.key,), True)):
        await plain.enqueue(vault.conn, {"token": SECRET})
        said = await said_by_a_tick(vault, keys, plain)
        assert ("seal" in said) is heard
        assert said.count("crontick.open_tick") == 1


async def test_a_tick_with_secret_kinds_takes_no_more_round_trips(vault: Vault, proxy: Proxy) -> None:
    deployment = vault.deployment(login, url=proxy.url)
    await run_tick(deployment, TickRequest())
    for jobs, trips in ((0, 1), (20, 2)):
        await login.enqueue_many(vault.conn, [PAYLOAD] * jobs)
        proxy.round_trips = 0
        summary = await run_tick(deployment, TickRequest())
        assert (summary.succeeded, proxy.round_trips) == (jobs, trips)
    await vault.one(IN_CLEAR, SECRET)
    proxy.round_trips = 0
    assert (await run_tick(deployment, TickRequest())).succeeded == 1
    assert proxy.round_trips == 2, "what came in clear is sealed with the exchange that settles it"


def test_a_process_without_secrets_loads_nothing_of_them(database: str) -> None:
    script = """
import asyncio, sys
from crontick.jobs.process import process_jobs
from crontick.jobs.settings import Settings
from crontick.jobs.deployment import load_deployment
settings = Settings(database_url=sys.argv[1], environment="test")
asyncio.run(process_jobs(deployment=load_deployment(settings)))
print(*(name for name in sys.modules if "seal" in name or "secret_fields" in name or "cryptography" in name))
"""
    ran = subprocess.run([sys.executable, "-c", script, database], check=True, capture_output=True, text=True)
    assert ran.stdout.split() == []


async def test_sealing_a_running_row_and_claiming_a_sealed_one_are_hot_updates(vault: Vault) -> None:
    await login.enqueue_many(vault.conn, [PAYLOAD] * 20)
    await vault.tick(login)
    hot = "select n_tup_upd = n_tup_hot_upd and n_tup_upd >= 20 from pg_stat_user_tables where relname = %s"
    assert await async_until(lambda: vault.one(hot, "unfinished_jobs"))
