"""The one hook stands around every attempt, where its function runs, and its errors are the attempt's."""

import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import pytest

from crontick.jobs import Context, kind
from crontick.jobs.testing import Failed, Succeeded, run_async
from tests.engine.conftest import World

pytestmark = pytest.mark.anyio
SEEN: list[tuple[str, str]] = []


@pytest.fixture(autouse=True)
def seen() -> list[tuple[str, str]]:
    SEEN.clear()
    return SEEN


def note(what: str) -> None:
    SEEN.append((what, "thread" if threading.current_thread().name == "crontick-function" else "loop"))


@contextmanager
def where_it_runs(ctx: Context) -> Iterator[None]:
    note(f"enter {ctx.job.kind}")
    try:
        yield
    finally:
        note("leave")


@asynccontextmanager
async def in_the_loop(ctx: Context) -> AsyncIterator[None]:
    with where_it_runs(ctx):
        yield


@contextmanager
def refusing(ctx: Context) -> Iterator[None]:
    if ctx.job.payload_text:
        raise LookupError("no tenant of that name")
    yield


@asynccontextmanager
async def refusing_at_the_end(ctx: Context) -> AsyncIterator[None]:
    yield
    raise LookupError(f"nothing was flushed for {ctx.job.kind}")


@kind("sync", max_attempts=2)
def of_a_thread(payload: Any) -> str:
    note("run")
    if payload:
        raise ValueError(payload)
    return "done"


@kind("async", max_attempts=2)
async def of_the_loop(payload: Any) -> str:
    note("run")
    if payload:
        raise ValueError(payload)
    return "done"


@pytest.mark.parametrize("payload", ["", "it fails"])
@pytest.mark.parametrize(
    ("around", "function", "places"),
    [
        (in_the_loop, of_the_loop, ["loop"] * 3),
        (in_the_loop, of_a_thread, ["loop", "thread", "loop"]),
        (where_it_runs, of_the_loop, ["loop"] * 3),
        (where_it_runs, of_a_thread, ["thread"] * 3),
    ],
)
async def test_a_hook_is_entered_before_the_function_and_left_after_it(
    world: World, around: Callable[..., Any], function: Any, places: list[str], payload: str
) -> None:
    world.settings = {"around": f"tests.engine.test_around:{around.__name__}"}
    job = await function.enqueue(world.conn, payload)
    await world.tick(function)
    assert await world.status(job) == ["failed" if payload else "succeeded"]
    assert list(zip([f"enter {function.name}", "run", "leave"], places, strict=True)) == SEEN


@pytest.mark.parametrize("function", [of_a_thread, of_the_loop], ids=["sync", "async"])
@pytest.mark.parametrize(
    ("around", "error", "ran"),
    [
        ("refusing", "LookupError: no tenant of that name", False),
        ("refusing_at_the_end", "LookupError: nothing was flushed", True),
    ],
)
async def test_an_error_of_the_hook_is_the_attempt_s(
    world: World, function: Any, around: str, error: str, *, ran: bool
) -> None:
    world.settings = {"around": f"tests.engine.test_around:{around}"}
    job = await function.enqueue(world.conn, "")
    summary = await world.tick(function)
    assert (summary.failed, bool(SEEN)) == (1, ran)
    assert error in (await world.job(job))["last_error"]


@pytest.mark.parametrize("around", [in_the_loop, where_it_runs])
@pytest.mark.parametrize("function", [of_a_thread, of_the_loop], ids=["sync", "async"])
async def test_tests_of_a_kind_have_it_too(
    monkeypatch: pytest.MonkeyPatch, function: Any, around: Callable[..., Any]
) -> None:
    monkeypatch.setenv("CRONTICK_AROUND", f"tests.engine.test_around:{around.__name__}")
    assert isinstance(await run_async(function, ""), Succeeded)
    assert isinstance(await run_async(function, "it fails"), Failed)
    assert [what for what, _ in SEEN] == [f"enter {function.name}", "run", "leave"] * 2
