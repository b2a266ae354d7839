"""The routes of the API: what each answers and refuses."""

import json
from pathlib import Path

import pytest

from crontick.jobs import schedule
from tests.operate.conftest import ADMIN, CRON, ENQUEUE, KINDS, Api, Operated, greet
from tests.worlds.http_receiver import HttpReceiver

pytestmark = pytest.mark.anyio
ANN = {"by": "ann", "reason": "because"}


async def test_a_dead_job_is_found_read_and_requeued(operated: Operated, api: Api) -> None:
    [dead] = await operated.dead("the disk is full")
    [found] = (await api.get("/api/jobs?status=dead&error=disk"))["jobs"]
    assert (found["id"], found["last_error"]) == (dead, "Permanent: the disk is full")
    whole = await api.get(f"/api/jobs/{dead}")
    assert (whole["payload"], whole["attempts"][0]["outcome"]) == ({"why": "the disk is full"}, "dead")
    assert (await api.get(f"/api/jobs/{dead}/why"))["why"] == whole["why"]
    told = await api.post(f"/api/jobs/{dead}/requeue", {**ANN, "payload": {"why": "mended"}})
    assert (await api.get(f"/api/jobs/{told['requeued_as']}"))["payload"] == {"why": "mended"}
    assert (await api.get(f"/api/jobs/{dead}"))["requeued_as"] == told["requeued_as"]
    assert await operated.rows("select action, by, reason from crontick.audit") == [("requeue", "ann", "because")]


async def test_what_is_not_dead_is_a_conflict(operated: Operated, api: Api) -> None:
    job = await operated.enqueue("greet")
    told = await api.post(f"/api/jobs/{job}/requeue", ANN, status=409)
    assert told["detail"] == f"job {job} is not dead yet: `crontick run-now {job}` makes it due at once"


async def test_jobs_are_hurried_cancelled_and_ignored(operated: Operated, api: Api) -> None:
    later = await operated.enqueue("greet", run_at="2031-01-01T00:00Z")
    [dead] = await operated.dead("it broke")
    assert await api.post(f"/api/jobs/{later}/run-now", ANN) == {"job": later, "status": "queued"}
    assert await api.post(f"/api/jobs/{later}/cancel", ANN) == {"job": later, "status": "cancelled"}
    assert await api.post(f"/api/jobs/{dead}/ignore", ANN) == {"job": dead, "resolution": "ignored"}
    assert (await api.get("/api/dead"))["dead"] == []


async def test_a_bulk_action_is_previewed_confirmed_and_refused_when_more_match(operated: Operated, api: Api) -> None:
    await operated.dead("a", "b")
    asked = {**ANN, "matching": {"kind": "break_at_once"}}
    assert (await api.post("/api/jobs/ignore", asked))["matched"] == 2
    await operated.dead("c")
    told = await api.post("/api/jobs/ignore", {**asked, "confirmed": 2}, status=409)
    assert told["type"].endswith("#conflict")
    told = await api.post("/api/jobs/ignore", {**asked, "confirmed": 3})
    assert (told["matched"], told["done"]) == (3, 3)


@pytest.mark.parametrize(("decision", "again"), [("sent", False), ("not_sent", True)])
async def test_a_doubt_is_decided(operated: Operated, api: Api, decision: str, again: bool) -> None:  # noqa: FBT001
    await operated.enqueue("mail", '{"key": "receipt:42"}')
    await operated.tick(*KINDS)
    [doubt] = (await api.get("/api/doubts"))["doubts"]
    told = await api.post("/api/doubts", {**ANN, "kind": doubt["kind"], "key": doubt["key"], "decision": decision})
    assert (told["job"] is not None) == again
    assert (await api.get("/api/doubts"))["doubts"] == []


async def test_work_is_paused_and_resumed_and_the_overview_shows_it(operated: Operated, api: Api) -> None:
    await api.post("/api/pause", {**ANN, "what": "queue", "name": "mail"})
    assert [pause["name"] for pause in (await api.get("/api/pauses"))["paused"]] == ["mail"]
    assert [pause["name"] for pause in (await api.get("/api/overview"))["paused"]] == ["mail"]
    await api.post("/api/resume", {**ANN, "what": "queue", "name": "mail"})
    assert (await api.get("/api/pauses"))["paused"] == []


@pytest.fixture
async def crm(operated: Operated, http_receiver: HttpReceiver, tmp_path: Path) -> HttpReceiver:
    """An endpoint of that name."""
    operated.settings["config_path"] = path = tmp_path / "crontick.toml"
    path.write_text('[http]\nallow = ["127.0.0.1"]\n')
    await operated.rows("select crontick.set_endpoint('crm', %s)", http_receiver.url)
    return http_receiver


@pytest.mark.parametrize(
    ("what", "name", "kept"),
    [
        ("queue", "slow", ["greet"]),
        ("kind", "greet", ["greet"]),
        ("group", "g", ["greet"]),
        ("endpoint", "crm", ["deliver_webhook"]),
        ("all", "", ["deliver_webhook", "greet"]),
    ],
)
async def test_what_is_paused_over_the_api_waits_until_it_is_resumed(
    operated: Operated, api: Api, crm: HttpReceiver, what: str, name: str, kept: list[str]
) -> None:
    waiting = "select array_agg(kind order by kind) from crontick.jobs where status = 'queued'"
    named = {"what": what, **({"name": name} if name else {})}
    await api.post("/api/pause", {**ANN, **named})
    assert [(p["what"], p["by"], p["reason"]) for p in (await api.get("/api/pauses"))["paused"]] == [
        (what, *ANN.values())
    ]
    await operated.enqueue("greet", queue="slow", group_key="g")
    await operated.enqueue("deliver_webhook", '{"endpoint": "crm", "body": 1}')
    await operated.tick(*KINDS)
    assert await operated.one(waiting) == kept
    await api.post("/api/resume", {**ANN, **named})
    await operated.tick(*KINDS)
    assert (await operated.one(waiting), len(crm.requests)) == (None, 1)
    told = await api.post("/api/resume", {**ANN, **named}, status=404)
    assert "is not paused" in told["detail"]


async def test_a_schedule_is_paused_and_resumed_over_the_api(operated: Operated, api: Api) -> None:
    hourly = schedule("0 * * * *", name="hourly")(greet)
    named = {**ANN, "what": "schedule", "name": "hourly"}
    assert "there is no schedule" in (await api.post("/api/pause", named, status=404))["detail"]
    await operated.tick(hourly)
    fired = []
    for act in ("pause", "resume"):
        await api.post(f"/api/{act}", named)
        await operated.later(3600)
        fired.append((await operated.tick(hourly)).scheduled)
        [found] = (await api.get("/api/schedules"))["schedules"]
        assert (found["paused_at"] is not None) == (act == "pause")
    assert fired == [0, 1]


async def test_a_schedule_that_is_not_there_is_told_so(api: Api) -> None:
    assert (await api.get("/api/schedules"))["schedules"] == []
    told = await api.post("/api/schedules/nightly/run", ANN, status=404)
    assert told["detail"] == "there is no schedule nightly: `crontick schedules list`"


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "said"),
    [
        ("GET", "/api/jobs?status=done", None, 422, "$.status"),
        ("GET", "/api/jobs?limit=0", None, 422, "$.limit"),
        ("GET", "/api/jobs?limit=1001", None, 422, "$.limit"),
        ("GET", "/api/jobs?kidn=x", None, 422, "there is no field `kidn`; the fields are status, kind"),
        ("GET", "/api/jobs?kind=a&kind=b", None, 422, "twice"),
        ("GET", "/api/jobs?error=%00", None, 422, "$.error"),
        ("GET", "/api/jobs?since=2026-11-30T09:15:00", None, 422, "$.since"),
        ("GET", "/api/jobs/7", None, 404, "there is no job 7"),
        ("GET", "/api/jobs/0", None, 422, "$.id"),
        ("GET", f"/api/jobs/{2**63}", None, 422, "$.id"),
        ("GET", "/api/jobs/seven", None, 404, "openapi.json"),
        ("GET", "/api/jobs/", None, 404, "openapi.json"),
        ("GET", "/api/overview?x=1", None, 422, "it takes no fields"),
        ("GET", "/api/jobs/7?id=8", None, 422, "there is no field `id`"),
        ("POST", "/api/jobs/7/cancel", b"{}", 422, "missing required field `by`"),
        ("POST", "/api/jobs/7/cancel", b"", 400, "not a JSON object"),
        ("POST", "/api/jobs/7/cancel", b"[]", 400, "not a JSON object"),
        ("POST", "/api/jobs/7/cancel", b'{"by": "ann", "id": 8}', 422, "there is no field `id`"),
        ("POST", "/api/jobs/7/cancel", b'{"by": "' + b"a" * 129 + b'"}', 422, "$.by"),
        ("POST", "/api/jobs/7/cancel", b'{"by": "\\u0000"}', 422, "$.by"),
        ("POST", "/api/jobs/7/cancel", b'{"by": "\\ud800"}', 400, "UTF-8"),
        ("POST", "/api/jobs/7/cancel", b"[" * 100_000, 413, "4096 bytes"),
        ("POST", "/api/jobs/7/requeue", b'{"by": "ann", "payload": "\\u0000"}', 404, "there is no job 7"),
        ("POST", "/api/jobs/requeue", b'{"by": "ann"}', 422, "matching"),
        ("POST", "/api/jobs/ignore", b'{"by": "ann", "matching": {}}', 422, "needs a reason"),
        ("POST", "/api/jobs/requeue", b'{"by": "ann", "matching": {"kidn": "a"}}', 422, "kidn"),
        ("POST", "/api/jobs/requeue", b"[" * 100_000, 400, "not a JSON object"),
        ("POST", "/api/doubts", b'{"by": "ann", "kind": "a", "key": "b", "decision": "maybe"}', 422, "$.decision"),
        ("POST", "/api/doubts", b'{"by": "ann", "kind": "a", "key": "b", "decision": "sent"}', 409, "not in doubt"),
        ("DELETE", "/api/jobs/7", None, 405, "takes GET, HEAD"),
        ("POST", "/api/jobs/7/why", b"{}", 405, "takes GET, HEAD"),
        ("GET", "/api/jobs/7/cancel", None, 405, "takes POST"),
        ("PUT", "/api/doubts", None, 405, "takes GET, HEAD, POST"),
    ],
)
async def test_what_cannot_be_done_is_refused_in_a_sentence(
    api: Api, method: str, path: str, body: bytes | None, status: int, said: str
) -> None:
    answer = await api.ask(method, path, content=body)
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert said in answer.json()["detail"]


async def test_an_edited_payload_that_postgresql_cannot_store_is_refused(operated: Operated, api: Api) -> None:
    [dead] = await operated.dead("it broke")
    for payload in ('"\\u0000"', "1e999999999"):
        body = f'{{"by": "ann", "payload": {payload}}}'.encode()
        answer = await api.ask("POST", f"/api/jobs/{dead}/requeue", content=body)
        assert (answer.status_code, answer.json()["type"].rpartition("#")[2]) == (422, "out-of-range")


@pytest.mark.parametrize("token", [None, CRON, ENQUEUE, ADMIN[:-1]])
async def test_only_the_admins_token_opens_what_operates(api: Api, token: str | None) -> None:
    for path in ("/api/jobs", "/api/jobs/7", "/api/overview", "/api/doubts"):
        assert (await api.ask("GET", path, token)).status_code == 401
    for path in ("/api/jobs/7/cancel", "/api/jobs/cancel", "/api/pause", "/api/schedules/nightly/run"):
        assert (await api.ask("POST", path, token, content=json.dumps(ANN))).status_code == 401


async def test_a_head_is_answered_like_a_get(api: Api) -> None:
    assert (await api.ask("HEAD", "/api/overview")).status_code == 200
