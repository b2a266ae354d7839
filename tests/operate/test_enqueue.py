"""``POST /api/jobs``: what is enqueued, by whom, and once for each Idempotency-Key."""

import asyncio
import json

import pytest

from tests.operate.conftest import ADMIN, CRON, ENQUEUE, KINDS, Api, Operated, app_of, settings_of

pytestmark = pytest.mark.anyio
GREET = {"kind": "greet"}
KEYS = "select count(*) from crontick.idempotency_keys"


async def test_a_job_is_enqueued_with_all_that_the_sql_function_takes(operated: Operated, api: Api) -> None:
    options = {
        "payload": {"name": "Ada"},
        "queue": "slow",
        "priority": 5,
        "max_attempts": 2,
        "unique_key": "u",
        "group_key": "g",
        "run_at": "2027-01-01T00:00:00Z",
        "expires_at": "2027-01-02T00:00:00+01:00",
    }
    [told] = (await api.enqueue({**GREET, **options}))["jobs"]
    job = await operated.job(told["id"])
    assert told["created"]
    assert {job[name] == options[name] for name in ("payload", "queue", "priority", "max_attempts", "group_key")} == {
        True
    }
    again = await api.enqueue({**GREET, "unique_key": "u"})
    assert again == {"jobs": [{"id": told["id"], "created": False}]}


async def test_a_delay_counts_from_the_databases_now(operated: Operated, api: Api) -> None:
    await operated.later(3600)
    [told] = (await api.enqueue({**GREET, "delay_seconds": 60}))["jobs"]
    assert 0 < await operated.delay(told["id"]) <= 60


async def test_many_are_enqueued_in_their_order_or_none(operated: Operated, api: Api) -> None:
    told = await api.enqueue([{**GREET, "payload": {"n": n}, "unique_key": f"{9 - n}"} for n in range(3)])
    assert [(await operated.job(job["id"]))["payload"]["n"] for job in told["jobs"]] == [0, 1, 2]
    await api.enqueue([GREET, {**GREET, "expires_at": "2020-01-01T00:00:00Z"}], status=422)
    assert await operated.counts() == {"queued": 3}


@pytest.mark.parametrize("offered", [(), ("mail",)])
async def test_a_kind_that_is_not_offered_is_refused(
    operated: Operated, database: str, offered: tuple[str, ...]
) -> None:
    api = Api(app_of(settings_of(database), offered))
    told = await api.enqueue([{"kind": "mail"}, GREET] if offered else GREET, status=403)
    assert told["detail"] == (
        "job 2 is of the kind greet; [api] kinds offers mail"
        if offered
        else "job 1 is of the kind greet; [api] kinds offers none"
    )
    assert await operated.counts() == {}


@pytest.mark.parametrize("token", [None, CRON, ADMIN, ENQUEUE[:-1]])
async def test_only_the_token_for_enqueueing_enqueues(operated: Operated, api: Api, token: str | None) -> None:
    assert (await api.ask("POST", "/api/jobs", token, json=GREET)).status_code == 401
    assert await operated.counts() == {}


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        (b"", 400, "not a JSON object"),
        (b"7", 422, "Expected `object`"),
        (b"[]", 422, "length >= 1"),
        (b"[" * 100_000, 422, "Expected `object`"),
        (b"{}", 422, "kind"),
        (b'{"kind": "greet", "kidn": 1}', 422, "kidn"),
        (b'{"kind": "greet", "priority": 101}', 422, "$.priority"),
        (b'{"kind": "greet", "queue": "Mail"}', 422, "$.queue"),
        (b'{"kind": "greet", "payload": 7}', 422, "job 1: the payload does not fit"),
        (b'{"kind": "greet", "payload": {"n": "\\u0000"}}', 422, "NUL"),
        (b'{"kind": "greet", "payload": {"n": 1e999999999}}', 422, "job 1: the payload does not fit"),
        (b'{"kind": "greet", "payload": {"n": "\\ud800"}}', 400, "UTF-8"),
        (b'{"kind": "greet", "unique_key": "\\u0000"}', 422, "$.unique_key"),
        (b'{"kind": "greet", "run_at": "1999-01-01T00:00:00Z"}', 422, "run_at"),
        (b'{"kind": "greet", "run_at": "2027-01-01T00:00:00"}', 422, "$.run_at"),
        (b'{"kind": "greet", "run_at": "2027-01-01T00:00:00Z", "delay_seconds": 1}', 422, "run_at and delay_seconds"),
        (b'{"kind": "greet", "unique_key": "a", "unique_for": "soon"}', 422, "unique_for"),
        (b'{"kind": "greet", "payload": {"a": "' + b"x" * 65536 + b'"}}', 422, "65536 are allowed"),
        (json.dumps([GREET] * 1001).encode(), 422, "length <= 1000"),
        (b" " * (2**20 + 1), 413, "1048576 bytes"),
    ],
    ids=range(20),
)
async def test_what_cannot_be_enqueued_is_refused_whole(
    operated: Operated, api: Api, body: bytes, status: int, said: str
) -> None:
    assert said in (await api.enqueue(body, status=status))["detail"]
    assert await operated.counts() == {}


async def test_a_secret_field_is_sealed_or_refused(operated: Operated, api: Api) -> None:
    await operated.tick(*KINDS)
    told = await api.enqueue({"kind": "secretive", "payload": {"token": "s3cr3t-s3cr3t"}}, status=422)
    assert "CRONTICK_ENCRYPTION_KEYS is not set" in told["detail"]


async def test_a_repeat_under_a_key_is_answered_as_the_first_time_whatever_became_of_the_job(
    operated: Operated, api: Api
) -> None:
    first = await api.enqueue(GREET, key="a")
    assert await api.enqueue(GREET, key="a") == first
    await operated.tick(*KINDS)
    await operated.conn.execute("delete from crontick.finished_jobs")
    assert await api.enqueue(GREET, key="a") == first
    assert await operated.counts() == {}
    assert await api.enqueue(GREET, key="b") != first


async def test_the_same_key_with_another_body_is_refused(operated: Operated, api: Api) -> None:
    await api.enqueue(GREET, key="a")
    told = await api.enqueue({**GREET, "payload": {"n": 1}}, key="a", status=422)
    assert told["type"].endswith("#key-reused")
    assert await operated.counts() == {"queued": 1}


async def test_a_key_is_free_again_after_a_day_and_then_forgotten(operated: Operated, api: Api) -> None:
    first = await api.enqueue(GREET, key="a")
    await operated.later(24 * 3600 - 60)
    assert await api.enqueue(GREET, key="a") == first
    await operated.later(120)
    assert await api.enqueue({**GREET, "payload": {"n": 1}}, key="a") != first
    await operated.later(25 * 3600)
    await operated.tick(*KINDS)
    assert await operated.one(KEYS) == 0


async def test_what_was_refused_leaves_no_key(operated: Operated, api: Api) -> None:
    await api.enqueue({**GREET, "run_at": "1999-01-01T00:00:00Z"}, key="a", status=422)
    assert await operated.one(KEYS) == 0
    await api.enqueue(GREET, key="a")


async def test_twenty_calls_at_once_under_one_key_enqueue_one_job(operated: Operated, api: Api) -> None:
    told = await asyncio.gather(*(api.enqueue(GREET, key="a") for _ in range(20)))
    assert [answer == told[0] for answer in told] == [True] * 20
    assert await operated.counts() == {"queued": 1}


@pytest.mark.parametrize("key", ["", "x" * 256, "a\tb"])
async def test_a_key_has_1_to_255_characters(api: Api, key: str) -> None:
    assert "Idempotency-Key" in (await api.enqueue(GREET, key=key, status=422))["detail"]
