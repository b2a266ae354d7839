"""A job whose key a deployment lacks is left alone until one has it; what was tampered with is refused."""

from typing import Any

import msgspec
import pytest

from crontick.jobs import Context, kind
from tests.secrecy.conftest import Vault, new_key
from tests.secrecy.logins import PAYLOAD, RAN, SECRET, login

pytestmark = pytest.mark.anyio


@kind("login")
async def login_of_old_code(payload: dict[str, Any]) -> None:
    RAN.append(payload)


@kind("reset", secret=["token", "password"])
async def reset(payload: dict[str, Any]) -> None:
    RAN.append(payload)


@pytest.mark.parametrize("keys", [(), (new_key("k2"),)], ids=["no key", "another key"])
@pytest.mark.parametrize("code", [login, login_of_old_code], ids=["secret", "old code"])
async def test_it_is_held_by_its_key_without_an_attempt_and_its_neighbours_run(
    vault: Vault, keys: tuple[str, ...], code: Any
) -> None:
    job = await login.enqueue(vault.conn, PAYLOAD)
    neighbour = await login.enqueue(vault.conn, {"to": "bob"})
    summary = await vault.tick(code, keys=keys)
    assert (summary.handed_back, summary.succeeded, RAN) == (1, 1, [{"to": "bob"}])
    assert await vault.status(job) == ("queued", "key:k1")
    assert await vault.status(neighbour) == ("succeeded", None)
    assert await vault.one("select attempt from crontick.jobs where id = %s", job) == 0
    assert any("sealed with the key k1" in warning for warning in summary.warnings)


async def test_it_is_written_once_for_as_long_as_the_key_is_missing(vault: Vault) -> None:
    job = await login.enqueue(vault.conn, PAYLOAD)
    other = (new_key("k2"),)
    await vault.tick(login, keys=other)
    before = await vault.one("select xmin::text from crontick.unfinished_jobs where id = %s", job)
    for _ in range(2):
        assert (await vault.tick(login, keys=other)).claimed == 0
    assert await vault.one("select xmin::text from crontick.unfinished_jobs where id = %s", job) == before


async def test_a_tick_that_has_the_key_lets_it_in(vault: Vault) -> None:
    job = await login.enqueue(vault.conn, PAYLOAD)
    await vault.tick(login, keys=())
    assert (await vault.tick(login, keys=(new_key("k2"), vault.key))).succeeded == 1
    assert (RAN, await vault.status(job)) == ([PAYLOAD], ("succeeded", None))


async def test_one_of_a_group_keeps_its_place(vault: Vault) -> None:
    head = await login.enqueue(vault.conn, PAYLOAD, group_key="g")
    await login.enqueue(vault.conn, {"to": "bob"}, group_key="g")
    await vault.tick(login, keys=())
    assert (await vault.status(head), RAN) == (("queued", "key:k1"), [])
    for _ in range(2):
        await vault.tick(login)
    assert RAN == [PAYLOAD, {"to": "bob"}]


async def test_it_can_be_cancelled(vault: Vault) -> None:
    job = await login.enqueue(vault.conn, PAYLOAD)
    await vault.tick(login, keys=())
    await vault.one("select crontick.cancel(%s, 'ada', 'no key')", job)
    assert (await vault.status(job))[0] == "cancelled"


TAMPERED = {
    "another field": ("reset", ("jsonb_set(payload, '{$sealed,fields}', '[\"password\"]') - 'token' ||"
                               " jsonb_build_object('password', payload -> 'token')")),
    "another id": ("login", "jsonb_set(payload, '{$sealed,id}', '\"AAAA\"')"),
    "clear and said to be sealed": ("login", "payload || '{\"token\": \"plain\"}'"),
    "no text": ("login", "payload || '{\"token\": 7}'"),
    "gone": ("login", "payload - 'token'"),
    "another payload's": ("login", ("payload || (select jsonb_build_object('token', o.payload -> 'token')"
                                   " from crontick.unfinished_jobs as o where o.kind = 'other')")),
    "a changed byte": ("login", ("payload || jsonb_build_object('token', overlay(payload ->> 'token'"
                                " placing 'AAAA' from 30))")),
}  # fmt: skip


@pytest.mark.parametrize("how", TAMPERED)
async def test_what_was_tampered_with_is_dead_after_a_second_look_and_never_runs(vault: Vault, how: str) -> None:
    as_kind, payload = TAMPERED[how]
    await kind("other", secret=["token"])(login.function).enqueue(vault.conn, PAYLOAD, run_at=86_400)
    job = await login.enqueue(vault.conn, PAYLOAD)
    await vault.one(
        f"update crontick.unfinished_jobs set kind = '{as_kind}', payload = {payload} where id = %s returning 1", job
    )
    assert (await vault.tick(login, reset)).failed == 1
    await vault.later(301)
    assert (await vault.tick(login, reset)).dead == 1
    assert RAN == []
    assert "secret field" in await vault.one("select last_error from crontick.jobs where id = %s", job)


async def test_a_payload_does_not_open_as_another_kind(vault: Vault) -> None:
    job = await login.enqueue(vault.conn, PAYLOAD)
    await vault.one("update crontick.unfinished_jobs set kind = 'reset' where id = %s returning 1", job)
    assert (await vault.tick(login, reset)).failed == 1
    assert RAN == []


@pytest.mark.parametrize("header", [5, [], "x", {}, {"id": 1, "fields": "token"}, {"id": "x", "fields": [1]}])
async def test_a_header_that_is_none_counts_as_none(vault: Vault, header: Any) -> None:
    await vault.tick(login)
    text = msgspec.json.encode({**PAYLOAD, "$sealed": header}).decode()
    await vault.one("select crontick.enqueue('login', %s::jsonb)", text)
    assert (await vault.tick(login)).succeeded == 1
    assert RAN[0]["token"] == SECRET
    assert SECRET not in await vault.lying()


def refuse(password: str) -> None:
    raise OSError(f"refused {password}")


async def test_what_a_function_says_of_its_secrets_is_hidden(vault: Vault, caplog: pytest.LogCaptureFixture) -> None:
    @kind("login", secret=["token", "pair", "pin"])
    async def talkative(payload: dict[str, Any], ctx: Context) -> dict[str, Any]:
        ctx.log.warning("uses %s and %s", payload["token"], payload["to"])
        try:
            refuse(payload["pair"]["password"])
        except OSError:
            ctx.log.exception("failed")
        return {"a": [payload["token"], "x" + SECRET], SECRET: 1, "pin": payload["pin"], "to": payload["to"]}

    payload = {**PAYLOAD, "pair": {"user": "ada", "password": "swordfish-7"}, "pin": 73_519_284}
    job = await talkative.enqueue(vault.conn, payload)
    assert (await vault.tick(talkative)).succeeded == 1
    assert "uses [redacted] and ada@users.example" in caplog.text
    assert "OSError: refused [redacted]" in caplog.text
    assert [word for word in (SECRET, "swordfish-7", "73519284") if word in caplog.text] == []
    result = await vault.one("select result from crontick.jobs where id = %s", job)
    assert result == {
        "a": ["[redacted]", "x[redacted]"],
        "[redacted]": 1,
        "pin": "[redacted]",
        "to": "ada@users.example",
    }
    lying = await vault.lying()
    assert [word for word in (SECRET, "swordfish-7", "73519284") if word in lying] == []


async def test_so_is_the_result_of_complete(vault: Vault) -> None:
    @kind("login", secret=["token"])
    async def completing(payload: dict[str, Any], ctx: Context) -> None:
        async with ctx.db() as conn, conn.transaction():
            await ctx.complete(conn, {"token": payload["token"]})

    await vault.tick(completing)
    await vault.one("select crontick.enqueue('login', %s::jsonb)", msgspec.json.encode(PAYLOAD).decode())
    assert (await vault.tick(completing)).succeeded == 1
    assert SECRET not in await vault.lying()
