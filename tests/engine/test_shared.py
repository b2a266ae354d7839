"""What attempts of a tick share is made once and ends with the tick."""

from typing import Any, ClassVar

import pytest

from crontick.jobs import Context, kind
from tests.engine.conftest import World

pytestmark = pytest.mark.anyio


class Line:
    """A connection, as far as the tick sees it."""

    made: ClassVar[list["Line"]] = []

    def __init__(self) -> None:
        self.users: set[int] = set()
        self.ended = 0
        Line.made.append(self)

    async def aclose(self) -> None:
        self.ended += 1


class Broken(Line):
    """One that fails when it is closed."""

    def close(self) -> None:
        raise RuntimeError("hunter2")

    aclose = None  # type: ignore[assignment]


@kind("use")
async def use(payload: dict[str, Any], ctx: Context) -> None:
    ctx.shared(Line).users.add(ctx.job.id)


@kind("use_in_thread")
def use_in_thread(payload: dict[str, Any], ctx: Context) -> None:
    ctx.shared(Line).users.add(ctx.job.id)


@kind("use_broken")
async def use_broken(payload: dict[str, Any], ctx: Context) -> None:
    ctx.shared(Broken)


async def test_all_attempts_of_a_tick_share_one_and_the_next_tick_has_another(world: World) -> None:
    Line.made.clear()
    first = {await one.enqueue(world.conn, {}) for one in (use, use, use_in_thread)}
    await world.tick(use, use_in_thread)
    assert [(line.users, line.ended) for line in Line.made] == [(first, 1)]
    await use.enqueue(world.conn, {})
    await world.tick(use)
    assert [line.ended for line in Line.made] == [1, 1]


async def test_one_that_cannot_be_closed_keeps_no_answer_back(world: World, caplog: pytest.LogCaptureFixture) -> None:
    await use_broken.enqueue(world.conn, {})
    summary = await world.tick(use_broken)
    assert summary.succeeded == 1
    assert "Broken could not be closed (RuntimeError)" in caplog.text
    assert "hunter2" not in caplog.text
