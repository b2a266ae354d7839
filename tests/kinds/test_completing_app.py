"""An app behind an HTTP kind ends its job in its own transaction, whatever becomes of answer, app and tick (P8)."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.kinds.conftest import Deployed
from tests.kinds.ticking import ticking
from tests.worlds.http_receiver import Answer, HttpReceiver, Request
from tests.worlds.process import Processes
from tests.worlds.waiting import async_until

SECRET = "whsec_" + "A" * 43 + "="


class App:
    """Writes one row for each job that it does, in the transaction that completes the job, and answers as told."""

    def __init__(self, url: str, receiver: HttpReceiver) -> None:
        self.url = url
        self.receiver = receiver
        self.answer = Answer(200, b"")
        self.commits = True
        receiver.act = self.act

    async def act(self, request: Request) -> Answer:
        async with self.completed(request):
            pass
        return self.answer

    @asynccontextmanager
    async def completed(self, request: Request) -> AsyncIterator[None]:
        """Completed, and committed when left, unless the app dies first."""
        call = json.loads(request.body)
        async with await psycopg.AsyncConnection.connect(self.url) as conn:
            await conn.execute("insert into resized (job) values (%s)", (call["id"],))
            await conn.execute(
                """select crontick.complete(%s::bigint, %s::bigint, '{"by": "app"}')""", (call["id"], call["claim"])
            )
            yield
            if not self.commits:
                await conn.rollback()


@pytest.fixture
async def app(database: str, conn: psycopg.AsyncConnection[Any], http_receiver: HttpReceiver) -> App:
    await conn.execute("create table resized (job bigint not null)")
    return App(database, http_receiver)


@pytest.fixture
def deployed(app: App, deploy: Callable[[str], Deployed], monkeypatch: pytest.MonkeyPatch) -> Deployed:
    monkeypatch.setenv("CRONTICK_SIGNING_SECRET", SECRET)
    return deploy(f'[kinds.resize_image]\nurl = "{app.receiver.url}/"\ntimeout = 5\n')


async def enqueue(deployed: Deployed) -> int:
    [row] = await (await deployed.conn.execute("select crontick.enqueue('resize_image', '{}')")).fetchall()
    return int(row[0])


async def resized(deployed: Deployed) -> int:
    """How often the app's own row was written."""
    [row] = await (await deployed.conn.execute("select count(*) from resized")).fetchall()
    return int(row[0])


async def state(deployed: Deployed, job: int) -> tuple[str, object, int]:
    """Status, result, and how often the app did it."""
    found = await deployed.job(job)
    return found["status"], found["result"], await resized(deployed)


DONE = ("succeeded", {"by": "app"}, 1)


@pytest.mark.parametrize(
    "answer",
    [
        Answer(204, b""),
        Answer(200, b'{"by": "answer"}'),
        Answer(200, b'{"completed": true}'),
        Answer(500, b"after the commit"),
        Answer(200, b'{"dead": "too late"}'),
        Answer(200, b'{"snooze": 60}'),
        Answer(200, b'{"cancel": "too late"}'),
        Answer(close=True),
    ],
)
async def test_what_the_app_committed_counts_whatever_it_answers(deployed: Deployed, app: App, answer: Answer) -> None:
    app.answer = answer
    job = await enqueue(deployed)
    summary = await deployed.tick()
    assert await state(deployed, job) == DONE
    assert (summary.claimed, summary.succeeded, summary.failed, summary.lost) == (1, 1, 0, 0)
    await deployed.tick()
    assert len(app.receiver.requests) == 1


async def test_an_answer_that_never_comes_changes_nothing_that_was_committed(deployed: Deployed, app: App) -> None:
    app.answer = Answer(hang=True)
    job = await enqueue(deployed)
    summary = await deployed.tick()
    assert await state(deployed, job) == DONE
    assert (summary.succeeded, summary.failed, summary.lost) == (1, 0, 0)


async def test_completed_without_a_commit_is_a_failure_and_is_tried_again(deployed: Deployed, app: App) -> None:
    app.answer, app.commits = Answer(200, b'{"completed": true}'), False
    job = await enqueue(deployed)
    await deployed.tick()
    found = await deployed.job(job)
    assert (found["status"], found["last_error"]) == ("failed", "RuntimeError: complete was not committed")
    assert await resized(deployed) == 0
    app.commits = True
    await deployed.conn.execute("select crontick.run_now(%s, 'ada', 'mended')", (job,))
    await deployed.tick()
    assert await state(deployed, job) == DONE


async def test_an_app_that_commits_after_its_answer_is_waited_for(deployed: Deployed, app: App) -> None:
    """Its row is locked when the tick settles: the outcome goes with a later exchange, and by then it is done."""
    open_blocks: list[AbstractAsyncContextManager[None]] = []
    loops: list[asyncio.AbstractEventLoop] = []

    async def act(request: Request) -> Answer:
        open_blocks.append(app.completed(request))
        await open_blocks[0].__aenter__()
        loops.append(asyncio.get_running_loop())
        return Answer(200, b'{"completed": true}')

    app.receiver.act = act
    job = await enqueue(deployed)
    ticking = asyncio.ensure_future(deployed.tick())
    await async_until(lambda: bool(loops))
    await async_until(lambda: exchanged(deployed))
    assert not ticking.done()
    asyncio.run_coroutine_threadsafe(open_blocks[0].__aexit__(None, None, None), loops[0]).result(30)
    assert (await ticking).succeeded == 1
    assert await state(deployed, job) == DONE


async def exchanged(deployed: Deployed) -> bool:
    """Whether the tick has had an answer of the database since the app completed its job."""
    text = """select exists (select from pg_stat_activity as tick, pg_stat_activity as app
                             where tick.application_name = 'crontick' and tick.state = 'idle'
                                 and app.state = 'idle in transaction' and tick.query_start > app.state_change)"""
    [row] = await (await deployed.conn.execute(text)).fetchall()
    return bool(row[0])


async def test_an_app_that_dies_in_the_middle_has_done_nothing(deployed: Deployed, app: App) -> None:
    async def die(request: Request) -> Answer:
        with pytest.raises(ConnectionAbortedError):
            async with app.completed(request):
                raise ConnectionAbortedError
        app.receiver.act = app.act
        return Answer(close=True)

    app.receiver.act = die
    job = await enqueue(deployed)
    await deployed.tick()
    assert (await state(deployed, job))[0] == "failed"
    await deployed.conn.execute("select crontick.run_now(%s, 'ada', 'again')", (job,))
    await deployed.tick()
    assert await state(deployed, job) == DONE


async def test_a_tick_that_is_killed_before_the_app_has_done_it_posts_again(
    deployed: Deployed, app: App, processes: Processes, tmp_path: Path
) -> None:
    app.receiver.answers.append(Answer(hang=True))
    job = await enqueue(deployed)
    child = ticking(processes, deployed, tmp_path)
    await async_until(lambda: bool(app.receiver.requests))
    child.kill()
    assert (await state(deployed, job))[0] == "running"
    await deployed.conn.execute("update crontick.test_clock set ahead = ahead + interval '1 hour'")
    assert (await deployed.tick()).rescued == 1
    assert await state(deployed, job) == DONE
    first, second = (request.headers["webhook-id"] for request in app.receiver.requests)
    assert first == second


async def test_a_tick_that_is_killed_after_the_app_has_done_it_leaves_a_success(
    deployed: Deployed, app: App, processes: Processes, tmp_path: Path
) -> None:
    app.answer = Answer(hang=True)
    job = await enqueue(deployed)
    child = ticking(processes, deployed, tmp_path)
    await async_until(lambda: _done(deployed, job))
    child.kill()
    await deployed.conn.execute("update crontick.test_clock set ahead = ahead + interval '1 hour'")
    summary = await deployed.tick()
    assert (summary.claimed, summary.rescued) == (0, 0)
    assert await state(deployed, job) == DONE
    assert len(app.receiver.requests) == 1


async def _done(deployed: Deployed, job: int) -> bool:
    return bool((await deployed.job(job))["status"] == "succeeded")


async def test_an_app_that_comes_too_late_cannot_commit(deployed: Deployed, app: App) -> None:
    """The rescued job belongs to another claim: the first POST's transaction is refused as a whole."""
    app.receiver.answers.append(Answer(500))
    job = await enqueue(deployed)
    await deployed.tick()
    [first] = app.receiver.requests
    with pytest.raises(psycopg.Error) as raised:
        await app.act(first)
    assert raised.value.sqlstate == "CT410"
    assert await resized(deployed) == 0
    assert (await deployed.job(job))["status"] == "failed"
