"""ctx.complete: from its call on, only its transaction decides. Children and progress."""

from typing import Any

import psycopg
import pytest

from crontick.jobs import Context, PayloadError, Permanent, kind
from tests.engine.conftest import World
from tests.worlds.waiting import async_until

pytestmark = pytest.mark.anyio


@kind("child")
async def child(payload: Any) -> None: ...


async def ledger(world: World) -> int:
    return int(await world.one("select count(*) from public.ledger"))


@kind("pay", max_attempts=2)
async def pay(payload: Any, ctx: Context) -> Any:
    async with ctx.db() as conn:
        async with conn.transaction():
            await conn.execute("insert into public.ledger values (%s)", (ctx.job.id,))
            await ctx.complete(conn, {"paid": True})
            if payload == "roll back":
                raise psycopg.Rollback
            if payload == "raise inside":
                raise ValueError("inside")
        if payload == "raise after":
            raise Permanent("after")
    return {"other": "result"}


@pytest.mark.parametrize(
    ("payload", "status", "rows", "error"),
    [
        ("commit", "succeeded", 1, None),
        ("raise after", "succeeded", 1, None),
        ("roll back", "failed", 0, "complete was not committed"),
        ("raise inside", "failed", 0, "ValueError: inside"),
    ],
)
async def test_only_the_transaction_decides(
    world: World, payload: str, status: str, rows: int, error: str | None
) -> None:
    await world.rows("create table public.ledger (job bigint)")
    job = await pay.enqueue(world.conn, payload)
    summary = await world.tick(pay)
    told = await world.job(job)
    assert (told["status"], await ledger(world)) == (status, rows)
    assert (summary.succeeded, summary.failed, summary.lost) == ((1, 0, 0) if status == "succeeded" else (0, 1, 0))
    assert told["result"] == ({"paid": True} if status == "succeeded" else None)
    assert error is None or error in told["last_error"]
    assert await world.one("select count(*) from crontick.claims") == 0


@pytest.mark.parametrize(("payload", "notes"), [("commit", []), ("raise after", ["Permanent: after"])])
async def test_what_the_function_raises_after_it_is_kept_as_a_note(
    world: World, payload: str, notes: list[str]
) -> None:
    await world.rows("create table public.ledger (job bigint)")
    await pay.enqueue(world.conn, payload)
    await world.tick(pay)
    kept = await world.rows("select outcome, error from crontick.attempts")
    assert kept == [("succeeded", note) for note in notes]


async def test_left_open_it_is_rolled_back_and_the_attempt_failed(world: World) -> None:
    await world.rows("create table public.ledger (job bigint)")

    @kind("pay")
    async def forgetful(payload: Any, ctx: Context) -> None:
        async with ctx.db() as conn:
            await conn.execute("begin")
            await conn.execute("insert into public.ledger values (1)")
            await ctx.complete(conn)

    job = await forgetful.enqueue(world.conn, {})
    await world.tick(forgetful)
    told = await world.job(job)
    assert (told["status"], await ledger(world)) == ("failed", 0)
    assert "complete was not committed" in told["last_error"]


async def test_a_caught_refusal_cannot_commit_what_the_function_wrote(world: World) -> None:
    await world.rows("create table public.ledger (job bigint)")

    @kind("pay")
    async def stale(payload: Any, ctx: Context) -> None:
        await world.rows("update crontick.unfinished_jobs set claim = claim + 1")
        async with ctx.db() as conn:
            await conn.execute("begin")
            await conn.execute("insert into public.ledger values (1)")
            with pytest.raises(psycopg.DatabaseError, match="the claim of job"):
                await ctx.complete(conn)
            await conn.execute("commit")

    await stale.enqueue(world.conn, {})
    summary = await world.tick(stale)
    assert (summary.lost, await ledger(world)) == (1, 0)


async def test_a_sync_function_completes_on_its_own_connection(world: World) -> None:
    @kind("pay")
    def sync(payload: Any, ctx: Context) -> None:
        with ctx.db() as conn:
            ctx.complete(conn, {"n": 1})

    job = await sync.enqueue(world.conn, {})
    await world.tick(sync)
    assert ((await world.job(job))["status"], (await world.job(job))["result"]) == ("succeeded", {"n": 1})


async def test_a_completed_head_lets_its_group_go_on(world: World) -> None:
    await world.rows("create table public.ledger (job bigint)")
    jobs = [await pay.enqueue(world.conn, "commit", group_key="g") for _ in range(3)]
    await world.tick(pay)
    assert await world.status(*jobs) == ["succeeded"] * 3


async def test_a_result_too_large_is_refused_before_it_is_sent(world: World) -> None:
    @kind("pay")
    async def large(payload: Any, ctx: Context) -> None:
        async with ctx.db() as conn:
            with pytest.raises(PayloadError):
                await ctx.complete(conn, "x" * 70_000)

    job = await large.enqueue(world.conn, {})
    await world.tick(large)
    assert await world.status(job) == ["failed"]


@pytest.mark.parametrize(("end", "born"), [("succeed", 1), ("fail", 0), ("die", 0), ("refuse result", 0)])
async def test_children_are_written_by_a_success_only(world: World, end: str, born: int) -> None:
    @kind("parent")
    async def parent(payload: Any, ctx: Context) -> Any:
        ctx.enqueue(child, {"of": ctx.job.id}, unique_key="c", run_at=3600)
        if payload == "fail":
            raise ValueError
        if payload == "die":
            raise Permanent("no")
        return "x" * 70_000 if payload == "refuse result" else None

    await parent.enqueue(world.conn, end)
    await world.tick(parent, child)
    assert await world.one("select count(*) from crontick.jobs where kind = 'child'") == born


async def test_children_run_in_the_same_tick(world: World) -> None:
    @kind("parent")
    async def parent(payload: Any, ctx: Context) -> None:
        for n in range(3):
            ctx.enqueue(child, {"n": n})

    await parent.enqueue(world.conn, {})
    assert (await world.tick(parent, child)).succeeded == 4


async def test_a_child_enqueued_on_a_connection_lives_and_dies_with_its_transaction(world: World) -> None:
    @kind("parent")
    async def parent(payload: Any, ctx: Context) -> None:
        async with ctx.db() as conn, conn.transaction():
            await ctx.enqueue(child, {}, conn=conn, run_at=3600)
        async with ctx.db() as conn, conn.transaction():
            await ctx.enqueue(child, {}, conn=conn, run_at=3600)
            raise psycopg.Rollback

    await parent.enqueue(world.conn, {})
    await world.tick(parent, child)
    assert await world.one("select count(*) from crontick.jobs where kind = 'child'") == 1


async def test_progress_is_written_with_an_exchange_while_the_job_runs(world: World) -> None:
    seen = "select progress_done, progress_total from crontick.unfinished_jobs where progress_done is not null"

    @kind("long", timeout=20, needs=1)
    async def long(payload: Any, ctx: Context) -> None:
        ctx.progress(3, 10)
        await async_until(lambda: world.rows(seen))
        ctx.progress(10, 10)

    job = await long.enqueue(world.conn, {})
    await child.enqueue_many(world.conn, [{}] * 30)
    await world.tick(long, child)
    told = await world.job(job)
    assert (told["status"], told["progress_done"], told["progress_total"]) == ("succeeded", 10, 10)
