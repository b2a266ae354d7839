"""A secret field lies in no table, however its job got there and whatever became of it."""

from typing import Any

import psycopg
import pytest

from crontick.jobs import Context, Permanent, kind
from crontick.jobs.sealing import KEYS, SealingError
from tests.secrecy.conftest import Vault
from tests.secrecy.logins import PAYLOAD, RAN, SECRET, login

pytestmark = pytest.mark.anyio


@kind("failing", secret=["token"], max_attempts=2, backoff=[60])
async def failing(payload: dict[str, Any]) -> None:
    raise RuntimeError(f"cannot use {payload['token']}")


async def test_python_seals_before_the_table_and_the_function_sees_it_in_clear(vault: Vault) -> None:
    job = await login.enqueue(vault.conn, PAYLOAD)
    assert SECRET not in await vault.lying()
    assert (await vault.payload(job))["to"] == "ada@users.example"
    summary = await vault.tick(login)
    assert (summary.succeeded, RAN) == (1, [PAYLOAD])
    assert SECRET not in await vault.lying()


async def test_so_does_enqueue_many(vault: Vault) -> None:
    await login.enqueue_many(vault.conn, [PAYLOAD] * 3)
    assert SECRET not in await vault.lying()
    assert (await vault.tick(login)).succeeded == 3
    assert RAN == [PAYLOAD] * 3


async def test_children_are_sealed(vault: Vault) -> None:
    @kind("parent")
    async def parent(payload: dict[str, Any], ctx: Context) -> None:
        ctx.enqueue(login, PAYLOAD)

    await parent.enqueue(vault.conn, {})
    await vault.tick(parent, login, limit=1)
    assert await vault.one("select count(*) from crontick.jobs where kind = 'login'") == 1
    assert SECRET not in await vault.lying()


async def enqueued_in_clear(vault: Vault, kind: str, more: str = "") -> int:
    text = f"select crontick.enqueue(%s, jsonb_build_object('to', 'ada', 'token', %s::text){more})"
    job: int = await vault.one(text, kind, SECRET)
    return job


async def test_from_sql_it_comes_in_clear_and_is_settled_sealed_by_the_tick_that_runs_it(vault: Vault) -> None:
    await vault.tick(login)
    job = await enqueued_in_clear(vault, "login")
    assert SECRET in await vault.lying()
    assert (await vault.tick(login)).succeeded == 1
    assert RAN[0]["token"] == SECRET
    assert (await vault.status(job))[0] == "succeeded"
    assert SECRET not in await vault.lying()


async def test_the_first_tick_seals_what_is_not_due(vault: Vault) -> None:
    await vault.tick(login)
    job = await enqueued_in_clear(vault, "login", ", run_at => crontick.now() + interval '1 week'")
    assert (await vault.tick(login)).claimed == 0
    assert SECRET not in await vault.lying()
    await vault.later(700_000)
    assert (await vault.tick(login)).succeeded == 1
    assert RAN == [{"to": "ada", "token": SECRET}]
    assert (await vault.status(job))[0] == "succeeded"


async def test_so_does_a_deployment_s_very_first_tick(vault: Vault) -> None:
    await enqueued_in_clear(vault, "login", ", run_at => crontick.now() + interval '1 week'")
    await vault.tick(login)
    assert SECRET not in await vault.lying()


MARKED = '[{"name": "login", "queue": "default", "priority": 0, "max_attempts": 5, "secret": ["token"]}]'


async def test_the_walk_over_what_was_there_before_looks_at_some_rows_a_trip(vault: Vault) -> None:
    for nth in range(25):
        await enqueued_in_clear(vault, "login" if nth % 2 else "other")
    await vault.one("select crontick.sync_deployment('d', '1', %s, false)", MARKED)
    found = [await vault.one("select count(*) from crontick.unsealed")]
    while await vault.one("select exists (select from crontick.unsealed_walks)"):
        await vault.one("select count(*) from crontick.list_unsealed('{login}', 200, 10)")
        found.append(await vault.one("select count(*) from crontick.unsealed"))
    assert found == [0, 5, 10, 12]


async def test_a_walk_that_another_tick_is_at_is_left_to_it(vault: Vault) -> None:
    await enqueued_in_clear(vault, "login", ", run_at => crontick.now() + interval '1 week'")
    await vault.one("select crontick.sync_deployment('d', '1', %s, false)", MARKED)
    async with await psycopg.AsyncConnection.connect(vault.url) as other:
        await other.execute("select from crontick.unsealed_walks for update")
        await vault.tick(login)
        assert SECRET in await vault.lying()
        await other.rollback()
    await vault.tick(login)
    assert SECRET not in await vault.lying()


async def test_it_seals_many_pages(vault: Vault) -> None:
    await vault.tick(login)
    await vault.conn.execute(
        "select crontick.enqueue_many(jsonb_agg(jsonb_build_object('kind', 'login', 'payload',"
        " jsonb_build_object('token', %s::text, 'n', n), 'run_at', crontick.now() + interval '1 day')))"
        " from generate_series(1, 650) as n",
        (SECRET,),
    )
    await vault.tick(login)
    assert await vault.one("select count(*) from crontick.unsealed") == 0
    assert SECRET not in await vault.lying()


async def test_it_seals_what_was_cancelled_or_died_in_clear(vault: Vault) -> None:
    await vault.tick(login)
    job = await enqueued_in_clear(vault, "login")
    await vault.one("select crontick.cancel(%s, 'ada', 'not wanted')", job)
    assert SECRET in await vault.lying()
    await vault.tick(login)
    assert SECRET not in await vault.lying()


async def test_a_failing_job_is_sealed_between_its_attempts_and_when_it_is_dead(vault: Vault) -> None:
    await vault.tick(failing)
    job = await enqueued_in_clear(vault, "failing")
    assert (await vault.tick(failing)).failed == 1
    assert SECRET not in await vault.lying(), "also in the attempt and its error"
    await vault.later(100)
    assert (await vault.tick(failing)).dead == 1
    assert SECRET not in await vault.lying()
    assert "[redacted]" in await vault.one("select last_error from crontick.jobs where id = %s", job)


async def test_a_requeued_job_opens_under_the_same_id(vault: Vault) -> None:
    @kind("login", secret=["token"])
    async def broken(payload: dict[str, Any]) -> None:
        raise Permanent("not today")

    job = await login.enqueue(vault.conn, PAYLOAD)
    await vault.tick(broken)
    copy = await vault.one("select crontick.requeue(%s, 'ada', 'mended')", job)
    assert (await vault.payload(copy)) == (await vault.payload(job))
    assert (await vault.tick(login)).succeeded == 1
    assert RAN == [PAYLOAD]


async def test_an_edited_payload_from_sql_is_sealed_by_the_next_tick(vault: Vault) -> None:
    job = await failing.enqueue(vault.conn, PAYLOAD, max_attempts=1)
    await vault.tick(failing)
    text = (
        "select crontick.requeue(%s, 'ada', 'x', jsonb_build_object('token', %s::text), crontick.now() + interval '1h')"
    )
    await vault.one(text, job, SECRET)
    assert SECRET in await vault.lying()
    await vault.tick(failing)
    assert SECRET not in await vault.lying()


async def test_a_replaced_payload_is_sealed_again(vault: Vault) -> None:
    await vault.tick(login)
    job = await login.enqueue(vault.conn, PAYLOAD, unique_key="ada", run_at=3600)
    again = await enqueued_in_clear(
        vault, "login", ", unique_key => 'ada', on_conflict => 'replace', run_at => crontick.now() + interval '1h'"
    )
    assert (again, SECRET in await vault.lying()) == (job, True)
    await vault.tick(login)
    assert SECRET not in await vault.lying()


async def test_rows_from_before_the_field_was_secret_are_sealed_when_they_run(vault: Vault) -> None:
    plain = kind("login")(login.function)
    await plain.enqueue(vault.conn, PAYLOAD)
    assert SECRET in await vault.lying()
    assert (await vault.tick(login)).succeeded == 1
    assert SECRET not in await vault.lying()


async def test_without_a_key_python_refuses_to_enqueue(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(KEYS)
    with pytest.raises(
        SealingError, match=r"login has secret fields \(token\), and CRONTICK_ENCRYPTION_KEYS is not set"
    ):
        await login.enqueue(vault.conn, PAYLOAD)
    await login.enqueue(vault.conn, {"to": "ada"})


@pytest.mark.parametrize("option", ["unique_key", "group_key"])
async def test_a_secret_in_a_key_is_refused(vault: Vault, option: str) -> None:
    options: Any = {option: f"login:{SECRET}"}
    with pytest.raises(SealingError, match="keys are kept in clear"):
        await login.enqueue(vault.conn, PAYLOAD, **options)


def test_a_secret_field_is_no_marker() -> None:
    with pytest.raises(ValueError, match="token is secret, and a marker's key is kept in clear"):
        kind("login", secret=["token"], marker="token")(login.function)


async def test_a_payload_of_64_kib_fits_sealed(vault: Vault) -> None:
    job = await login.enqueue(vault.conn, {"token": "x" * 65_500})
    await vault.tick(kind("login", secret=["token"], max_attempts=1)(failing.function))
    await vault.one("select crontick.requeue(%s, 'ada', 'x')", job)
    assert (await vault.tick(login)).succeeded == 1


async def test_a_fingerprint_answers_nobody_who_guesses_at_a_secret(vault: Vault) -> None:
    @kind("leak", secret=["token"])
    async def leak(payload: dict[str, str]) -> None:
        raise ValueError(f"bad {payload['token']}")

    for token in ("hunter-alpha", "hunter-omega"):
        await leak.enqueue(vault.conn, {"token": token})
    await vault.tick(leak)
    assert await vault.one("select count(distinct fingerprint) from crontick.attempts") == 1
