"""One outcome that the database refuses costs its own job something, and no other (P2, B-J09)."""

from typing import Any

import pytest

from crontick.jobs import Context, kind
from crontick.jobs.process import run_tick
from crontick.jobs.request import TickRequest
from crontick.jobs.unavailable import Unavailable
from tests.faults import doomed
from tests.faults.world import World, deployed

REFUSE = """
create function refuse() returns trigger language plpgsql as $$
begin
    if {when} then
        {then}
    end if;
    return new;
end
$$;
create trigger refuse before insert on crontick.{table} for each row execute function refuse();
"""
RAISE = "raise exception 'no' using errcode = '{state}';"


async def refuse(world: World, table: str, when: str, then: str = RAISE.format(state="23514")) -> None:
    """From now on the table does not take such rows."""
    await world.conn.execute(REFUSE.format(table=table, when=when, then=then).encode())


@kind("odd", timeout=60, needs=0, max_attempts=3)
async def odd(payload: dict[str, Any], ctx: Context) -> object:
    await doomed.write(ctx)
    if payload.get("fail"):
        raise OSError(payload["fail"])
    return payload.get("result")


async def tick(world: World, **request: Any) -> Any:
    return await run_tick(deployed(world.url, [odd]), TickRequest(**request))


async def test_a_result_that_cannot_be_stored_is_left_out_and_the_others_are_written(world: World) -> None:
    await refuse(world, "finished_jobs", "new.result ? 'bad'")
    jobs = await odd.enqueue_many(world.conn, [{"result": {"bad" if n == 4 else "good": n}} for n in range(10)])
    summary = await tick(world)
    assert (summary.succeeded, summary.lost) == (10, 0)
    results = await world.rows("select id, result, last_error from crontick.finished_jobs order by id")
    assert results.pop(4) == (jobs[4], None, "what it said could not be stored (SQLSTATE 23514)")
    assert [result for _, result, _ in results] == [{"good": n} for n in range(10) if n != 4]
    assert await world.rows("select count(*), count(distinct job) from ran") == [(10, 10)]


async def test_an_error_text_that_cannot_be_stored_is_left_out(world: World) -> None:
    await refuse(world, "attempts", "new.error like '%bad%'")
    jobs = await odd.enqueue_many(world.conn, [{"fail": "bad" if n == 1 else "good"} for n in range(4)])
    summary = await tick(world)
    assert (summary.failed, summary.lost) == (4, 0)
    assert await world.value("select array_agg(status) from crontick.unfinished_jobs") == ["failed"] * 4
    told = await world.value("select error from crontick.attempts where job = %s", jobs[1])
    assert told == "what it said could not be stored (SQLSTATE 23514)"


async def test_a_job_whose_every_outcome_is_refused_keeps_no_other_from_its_own(world: World) -> None:
    jobs = await odd.enqueue_many(world.conn, [{}] * 10)
    await refuse(world, "finished_jobs", f"new.id = {jobs[4]}")
    summary = await tick(world)
    assert (summary.claimed, summary.succeeded) == (10, 9)
    assert await world.rows("select id, status from crontick.unfinished_jobs") == [(jobs[4], "running")]
    assert await world.value("select count(*) from crontick.finished_jobs where status = 'succeeded'") == 9
    later = await odd.enqueue(world.conn, {})
    assert (await tick(world)).succeeded == 1
    assert await world.status(later) == "succeeded"


async def test_children_that_are_refused_do_not_undo_the_success(world: World) -> None:
    @kind("parent", timeout=60, needs=0)
    async def parent(payload: dict[str, Any], ctx: Context) -> None:
        ctx.enqueue(odd, {"bad": payload["nth"]})

    await refuse(world, "unfinished_jobs", "new.payload @> '{\"bad\": 2}'")
    await parent.enqueue_many(world.conn, [{"nth": n} for n in range(4)])
    summary = await run_tick(deployed(world.url, [parent, odd]), TickRequest(kinds=("parent",)))
    assert summary.succeeded == 4
    assert await world.value("select array_agg(payload -> 'bad' order by id) from crontick.unfinished_jobs") == [
        0,
        1,
        3,
    ]


@pytest.mark.parametrize("state", ["40001", "40P01", "55P03", "57014"])
@pytest.mark.parametrize("table", ["finished_jobs", "claims", "ticks"])
async def test_what_may_work_in_a_moment_is_tried_again(world: World, state: str, table: str) -> None:
    """Refused once: a sequence is the only count that a roll-back leaves standing."""
    await world.conn.execute("create sequence refusals")
    await refuse(world, table, "nextval('public.refusals') = 1", RAISE.format(state=state))
    await odd.enqueue_many(world.conn, [{}] * 5)
    summary = await tick(world)
    assert (summary.claimed, summary.succeeded, summary.lost) == (5, 5, 0)
    assert await world.value("select last_value > 1 from refusals")
    assert await world.rows("select count(*), count(distinct job) from ran") == [(5, 5)]
    assert await world.value("select count(*) from crontick.ticks") == 1


async def test_a_claim_that_fails_takes_no_outcome_with_it(world: World) -> None:
    await odd.enqueue_many(world.conn, [{}] * 4)
    await world.conn.execute("create sequence refusals")
    # The opening's claim is taken; the one beside the first settle, and all after it, are not.
    await refuse(world, "claims", "nextval('public.refusals') > 1")
    with pytest.raises(Unavailable):
        await run_tick(deployed(world.url, [odd], concurrency=2), TickRequest())
    assert await world.value("select count(*) from crontick.finished_jobs") == 2
