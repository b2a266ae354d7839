"""What is enqueued between two ticks has an alarm once it is committed; what goes wrong with that fails nothing."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import anyio.to_thread
import asyncpg
import psycopg
import pytest

from crontick.jobs import Context, kind
from crontick.jobs.wake import arm_wake, arming
from tests.dashboard.asking import Asker
from tests.door.serving import served
from tests.enqueue.transactions import open_transaction
from tests.operate.conftest import Api, app_of, settings_of
from tests.wake.conftest import Waking
from tests.worlds.http_receiver import Answer, HttpReceiver

IN_AN_HOUR = timedelta(hours=1)
OFFERED = '[wake]\nprovider = "url"\nurl = "{url}/alarms"\nbody = "{{{{wake_at}}}}"\ntimeout = {seconds}\n'
TOLD = (
    "django.db.connection",
    "sqlalchemy session, psycopg",
    "sqlalchemy scoped_session",
    "sqlalchemy async session, psycopg",
    "sqlalchemy async session, asyncpg",
    "sqlalchemy async_scoped_session",
)
UNTOLD = ("psycopg", "async psycopg", "asyncpg", "sqlalchemy connection, psycopg")


@kind("note")
async def note(_: dict[str, Any]) -> None: ...


@pytest.fixture
def configured(http_receiver: HttpReceiver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Forget what was armed, and say how long the platform is waited for."""
    path = tmp_path / "crontick.toml"
    monkeypatch.setenv("CRONTICK_CONFIG", str(path))

    def forget(seconds: float = 30) -> None:
        monkeypatch.setattr(arming, "_ARMED", {})
        monkeypatch.setattr(arming, "_FAILED", {})
        path.write_text(OFFERED.format(url=http_receiver.url, seconds=seconds))
        http_receiver.requests.clear()

    monkeypatch.setattr("crontick.jobs.wake.after_commit.SECONDS", 30.0)
    forget()
    return forget


def asked(receiver: HttpReceiver) -> list[datetime]:
    return [datetime.fromisoformat(request.body.decode()) for request in receiver.requests]


def test_the_commit_sets_the_alarm_for_the_earliest_and_a_rollback_none(
    database: str, http_receiver: HttpReceiver, configured: Callable[..., None]
) -> None:
    for library in TOLD:
        configured()
        with open_transaction(library, database) as begun:
            begun.wait(note.enqueue(begun.conn, {}, run_at=2 * IN_AN_HOUR))
            begun.wait(note.enqueue_many(begun.conn, [{}, {}], run_at=IN_AN_HOUR))
            begun.wait(note.enqueue(begun.conn, {}, run_at=3 * IN_AN_HOUR))
            if library == "sqlalchemy session, psycopg":
                begun.conn.begin_nested().commit()  # a savepoint's end is no commit
            assert http_receiver.requests == [], library
            begun.wait(begun.commit())
        first = min(asked(http_receiver))
        assert timedelta(minutes=55) < first - datetime.now(UTC) < timedelta(minutes=61, seconds=1), library
        assert len(http_receiver.requests) == (2 if "django" in library else 1), library
        configured()
        with open_transaction(library, database) as begun:
            begun.wait(note.enqueue(begun.conn, {}))
            begun.wait(begun.rollback())
            if "django" not in library:
                begun.one("select 1")
                begun.wait(begun.commit())  # of something else
        assert http_receiver.requests == [], library


def test_where_nobody_tells_of_the_commit_the_app_does(
    database: str, http_receiver: HttpReceiver, configured: Callable[..., None]
) -> None:
    for library in UNTOLD:
        configured()
        with open_transaction(library, database) as begun:
            begun.wait(note.enqueue(begun.conn, {}, run_at=IN_AN_HOUR))
            begun.wait(begun.commit())
        assert http_receiver.requests == [], library
    anyio.run(arm_wake, IN_AN_HOUR)
    assert len(asked(http_receiver)) == 1


@pytest.mark.anyio
async def test_outside_a_transaction_an_enqueue_is_committed_at_once(
    database: str, http_receiver: HttpReceiver, configured: Callable[..., None]
) -> None:
    def sync() -> None:
        with psycopg.connect(database, autocommit=True) as conn:
            note.enqueue(conn, {}, run_at=IN_AN_HOUR)

    await anyio.to_thread.run_sync(sync)
    assert len(asked(http_receiver)) == 1
    configured()
    async with await psycopg.AsyncConnection.connect(database, autocommit=True) as conn:
        await note.enqueue(conn, {}, run_at=2 * IN_AN_HOUR)
        await note.enqueue(conn, {}, run_at=3 * IN_AN_HOUR)
        assert len(asked(http_receiver)) == 1, "a later one is the next tick's"
        await note.enqueue(conn, {}, run_at=IN_AN_HOUR)
        assert len(asked(http_receiver)) == 2, "an earlier one is not"
    configured()
    pure = await asyncpg.connect(database)
    await note.enqueue(pure, {}, run_at=IN_AN_HOUR)
    await pure.close()
    assert len(asked(http_receiver)) == 1


@pytest.mark.parametrize("answer", [Answer(status=429), Answer(hang=True), Answer(close=True)])
def test_a_platform_that_fails_fails_no_commit_and_is_then_left_alone(
    database: str, http_receiver: HttpReceiver, configured: Callable[..., None], answer: Answer
) -> None:
    configured(0.5 if answer.hang else 30)
    http_receiver.otherwise = answer
    for library in ("django.db.connection", "sqlalchemy async session, psycopg"):
        with open_transaction(library, database) as begun:
            job = begun.wait(note.enqueue(begun.conn, {}))
            begun.wait(begun.commit())
        with psycopg.connect(database) as conn:
            assert conn.execute("select status from crontick.jobs where id = %s", (job,)).fetchone() == ("queued",)
    assert len(http_receiver.requests) == 1


def test_a_file_that_is_wrong_fails_no_enqueue(
    database: str, http_receiver: HttpReceiver, configured: Callable[..., None], tmp_path: Path
) -> None:
    (tmp_path / "crontick.toml").write_text("[wake]\nprovider = 1\n")
    with psycopg.connect(database, autocommit=True) as conn:
        assert note.enqueue(conn, {}) > 0
    assert anyio.run(arm_wake) is None


@pytest.mark.anyio
async def test_over_http_it_is_set_before_the_answer(
    world: Waking, http_receiver: HttpReceiver, configured: Callable[..., None], tmp_path: Path
) -> None:
    settings = settings_of(world.url, environment="staging", config_path=tmp_path / "crontick.toml")
    api = Api(app_of(settings))
    await api.enqueue([{"kind": "greet", "delay_seconds": 7200}, {"kind": "greet", "delay_seconds": 3600}])
    [at] = asked(http_receiver)
    assert timedelta(minutes=50) < at - datetime.now(UTC) < timedelta(minutes=62)
    await api.post("/api/jobs/1/run-now", {"by": "ann"})
    assert asked(http_receiver)[1] - datetime.now(UTC) < timedelta(minutes=2), "what a person hurries is due"
    configured()
    with served(app_of(settings)) as address:
        asker = Asker(address)
        await anyio.to_thread.run_sync(asker.log_in)
        await anyio.to_thread.run_sync(asker.get, "/dashboard")
        assert asked(http_receiver) == [], "who only looks wakes nobody"
        await anyio.to_thread.run_sync(asker.post, "/dashboard/jobs/run-now", {"id": "2"})
    assert asked(http_receiver)[0] - datetime.now(UTC) < timedelta(minutes=2)
    configured()
    http_receiver.otherwise = Answer(status=500)
    await api.enqueue({"kind": "greet"})
    assert len(http_receiver.requests) == 1


@pytest.mark.anyio
async def test_what_a_function_enqueues_is_its_ticks_affair(
    world: Waking, http_receiver: HttpReceiver, configured: Callable[..., None], tmp_path: Path
) -> None:
    @kind("enqueuing")
    async def enqueuing(_: dict[str, Any], ctx: Context) -> None:
        async with ctx.db() as conn:
            await note.enqueue(conn, {}, run_at=IN_AN_HOUR)

    world.settings["config_path"] = tmp_path / "crontick.toml"
    await world.rows("select crontick.enqueue('enqueuing')")
    summary = await world.tick(note, enqueuing)
    assert asked(http_receiver) == [summary.wake_at]
