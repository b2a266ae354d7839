"""A tick is killed (SIGKILL) while its settle writes a 410 down: job and endpoint say the same, whatever came of it."""

from pathlib import Path

import pytest

from crontick.jobs.kinds.deliver_webhook import DeliverWebhook, deliver_webhook
from tests.faults.test_killed_mails import Deaf
from tests.faults.world import World
from tests.worlds.http_receiver import Answer, HttpReceiver, Request
from tests.worlds.proxy import Proxy
from tests.worlds.waiting import async_until

NOTHING = ("running", None, 0)
BOTH = ("dead", 410, 1)


@pytest.fixture
async def job(world: World, http_receiver: HttpReceiver, tmp_path: Path) -> int:
    """For an endpoint that wants no more."""
    path = tmp_path / "crontick.toml"
    path.write_text('[http]\nallow = ["127.0.0.1"]\n')
    world.settings = {"config_path": str(path)}
    http_receiver.otherwise = Answer(410)
    await world.rows("select crontick.set_endpoint('crm', %s)", http_receiver.url)
    return await world.enqueue(deliver_webhook, DeliverWebhook(endpoint="crm", body={}))


async def state(world: World, job: int) -> tuple[str, int | None, int]:
    """The job's status and status code, and how many endpoints are paused."""
    paused = await world.value("select count(*) from crontick.paused where what = 'endpoint'")
    [row] = await world.rows("select status, last_status_code from crontick.jobs where id = %s", job)
    return row[0], row[1], paused


async def an_hour_later_both(world: World, job: int, http_receiver: HttpReceiver, *, requests: int) -> None:
    await world.later("1 hour")
    await world.tick()
    assert await state(world, job) == BOTH
    behind = await world.enqueue(deliver_webhook, DeliverWebhook(endpoint="crm", body={}))
    await world.tick()
    assert len(http_receiver.requests) == requests
    assert await world.rows("select held_by from crontick.unfinished_jobs where id = %s", behind) == [("endpoint:crm",)]


async def test_killed_before_the_commit_neither_is_written(world: World, job: int, http_receiver: HttpReceiver) -> None:
    await world.hold("insert on crontick.pauses")
    child = world.doomed()
    session = await world.session_in_it()
    child.kill()
    await world.rows("select pg_terminate_backend(%s, 10000)", session)
    await world.go_on()
    assert await state(world, job) == NOTHING
    await an_hour_later_both(world, job, http_receiver, requests=2)


async def test_killed_while_the_server_commits_both_are_written(
    world: World, job: int, http_receiver: HttpReceiver
) -> None:
    await world.hold("insert on crontick.pauses")
    child = world.doomed()
    await world.session_in_it()
    child.kill()
    await world.go_on()
    await async_until(lambda: world.rows("select from crontick.paused"), seconds=30)
    assert await state(world, job) == BOTH
    await an_hour_later_both(world, job, http_receiver, requests=1)


async def test_killed_between_the_answer_and_the_settle_the_receiver_is_asked_once_more(
    world: World, job: int, http_receiver: HttpReceiver, proxy: Proxy
) -> None:
    deaf = Deaf(proxy)

    async def answered(_: Request) -> Answer:
        deaf()
        return Answer(410)

    http_receiver.act = answered
    child = world.doomed(proxy.url)
    await async_until(deaf.in_vain, seconds=30)
    child.kill()
    assert await state(world, job) == NOTHING
    http_receiver.act = None
    await an_hour_later_both(world, job, http_receiver, requests=2)
