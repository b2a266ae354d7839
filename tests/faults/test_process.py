"""A process runs out of memory, its loop is blocked, it is asked to end: no job pays for its neighbour."""

import json
import signal
import socket
import urllib.request
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from crontick.handler.loopback import free_port
from tests.faults import doomed
from tests.faults.world import World
from tests.worlds.process import Child
from tests.worlds.waiting import listens, until

TOKEN = "3f9b1c0de7a24586b1f0"
CONFINED = """
import resource
from tests.faults import doomed
with open("/proc/self/statm") as told:
    imported = int(told.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (imported + 2**28,) * 2)
doomed.main()
"""


async def test_with_memory_nearly_full_a_tick_claims_no_more(world: World) -> None:
    await world.enqueue(doomed.eat, {"megabytes": 200})
    notes = await doomed.note.enqueue_many(world.conn, [{}] * 5)
    told = json.dumps({"concurrency": 1, "db_connections": 1})
    lambda_size = {"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "200"}
    child = world.processes.run("-m", "tests.faults.doomed", world.url, told, env=lambda_size)
    assert child.line() == "ended claimed=1 succeeded=1"
    assert await world.value("select stop_reason from crontick.ticks") == "memory"
    assert [await world.status(note) for note in notes] == ["queued"] * 5
    assert (await world.tick()).succeeded == 5


async def test_a_function_that_asks_for_too_much_memory_fails_alone(world: World) -> None:
    job = await world.enqueue(doomed.eat, {"megabytes": 2000})
    await doomed.note.enqueue_many(world.conn, [{}] * 5)
    child = world.processes.start(CONFINED, world.url, "{}")
    assert child.line() == "ended claimed=6 succeeded=5 dead=1"
    assert "MemoryError" in await world.value("select last_error from crontick.jobs where id = %s", job)


@pytest.mark.parametrize("pieces", [64, 4096, 2**20])
async def test_a_function_that_takes_memory_without_end_fails_alone_whatever_is_left(world: World, pieces: int) -> None:
    job = await world.enqueue(doomed.gorge, {"bytes": pieces})
    await doomed.note.enqueue_many(world.conn, [{}] * 5)
    assert world.processes.start(CONFINED, world.url, "{}").line(seconds=90) == "ended claimed=6 succeeded=5 failed=1"
    await world.later("2 minutes")
    assert world.processes.start(CONFINED, world.url, "{}").line(seconds=90) == "ended claimed=1 dead=1"
    assert (await world.status(job), await world.outcomes(job)) == ("dead", ["failed", "dead"])


MEASURED = """
import resource
from tests.faults import doomed
doomed.main()
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


async def test_a_tick_loads_no_payload_that_it_will_not_run(world: World) -> None:
    peaks = []
    for bytes_each in (10, 60_000):
        await world.conn.execute(
            "insert into crontick.unfinished_jobs"
            " (kind, queue, priority, run_at, due_at, created_at, updated_at, payload)"
            " select 'note', 'default', 0, now(), now(), now(), now(), jsonb_build_object('a', repeat('x', %s))"
            " from generate_series(1, 4000)",
            (bytes_each,),
        )
        child = world.processes.start(MEASURED, world.url, '{"limit": 40}')
        assert child.line() == "ended claimed=40 succeeded=40"
        peaks.append(int(child.line()))
        await world.conn.execute("truncate crontick.unfinished_jobs")
    assert peaks[1] - peaks[0] < 40, f"of 240 megabytes that were due: {peaks}"


async def test_a_segmentation_fault_is_a_death_like_any_other(world: World) -> None:
    job = await world.enqueue(doomed.poison, {"how": "segmentation fault"})
    notes = await doomed.note.enqueue_many(world.conn, [{}] * 5)
    for _ in range(4):
        child = world.doomed()
        assert child.wait() in (-signal.SIGSEGV, 0)
        await world.later("2 minutes")
    assert await world.status(job) == "dead"
    assert await world.outcomes(job) == ["rescued"] * 3
    assert [await world.status(note) for note in notes] == ["succeeded"] * 5


class Standalone:
    """The front door as a process of its own, under the real server."""

    def __init__(self, world: World, caller: ThreadPoolExecutor, **settings: str) -> None:
        self.port = free_port()
        env = {
            "CRONTICK_DATABASE_URL": world.url,
            "CRON_SECRET": TOKEN,
            "CRONTICK_MODULES": "tests.faults.doomed",
            "CRONTICK_ENVIRONMENT": "test",
            **settings,
        }
        server = ("-m", "uvicorn", "crontick.handler.asgi:app", "--port", str(self.port), "--no-access-log")
        self.child: Child = world.processes.run(*server, env=env)
        self._caller = caller
        until(self._listens)

    def _listens(self) -> bool:
        assert self.child.process.poll() is None, self.child.errors
        return listens(self.port)

    def call(self) -> "Future[dict[str, Any]]":
        """Ask for a tick; the answer comes when it is over."""
        url = f"http://127.0.0.1:{self.port}/cron/tick"
        request = urllib.request.Request(url, method="POST", headers={"Authorization": f"Bearer {TOKEN}"})
        return self._caller.submit(lambda: json.load(urllib.request.urlopen(request, timeout=20)))


@pytest.fixture
def caller() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as one:
        yield one


async def test_a_blocked_loop_ends_the_process_and_the_neighbours_are_rescued(
    world: World, caller: ThreadPoolExecutor
) -> None:
    server = Standalone(world, caller, CRONTICK_BUDGET_SECONDS="1", CRONTICK_HOST_LIMIT_SECONDS="2")
    blocker = await world.enqueue(doomed.block)
    neighbours = [await world.enqueue(doomed.wait) for _ in range(3)]
    answer = server.call()
    assert server.child.wait() == 70
    assert isinstance(answer.exception(), OSError)
    assert "in block" in server.child.errors
    await world.later("1 minute")
    assert (await world.tick(kinds=("note",))).rescued == 1 + len(neighbours)
    assert [await world.status(job) for job in (blocker, *neighbours)] == ["queued"] * 4


async def test_sigterm_lets_what_runs_end_and_leaves_the_rest_due(world: World, caller: ThreadPoolExecutor) -> None:
    server = Standalone(world, caller, CRONTICK_CONCURRENCY="1")
    running = await world.enqueue(doomed.wait)
    rest = await doomed.note.enqueue_many(world.conn, [{}] * 3)
    answer = server.call()
    assert server.child.line() == f"in {running}"
    server.child.terminate()
    until(lambda: "Shutting down" in server.child.errors)
    server.child.process.send_signal(doomed.GO_ON)
    summary = answer.result(30)
    assert (summary["succeeded"], summary["stop_reason"]) == (1, "shutdown")
    assert server.child.wait() in (0, -signal.SIGTERM)
    assert [await world.status(job) for job in rest] == ["queued"] * 3
    assert (await world.tick()).succeeded == 3


async def test_killed_under_the_server_the_next_process_serves(world: World, caller: ThreadPoolExecutor) -> None:
    job = await world.enqueue(doomed.wait)
    first = Standalone(world, caller)
    answer = first.call()
    assert first.child.line() == f"in {job}"
    first.child.kill()
    assert isinstance(answer.exception(), OSError)
    await world.later("1 hour")
    second = Standalone(world, caller)
    answer = second.call()
    assert second.child.line() == f"in {job}"
    second.child.process.send_signal(doomed.GO_ON)
    assert answer.result(30)["succeeded"] == 1


async def test_a_body_of_300_megabytes_is_refused_and_not_kept(world: World, caller: ThreadPoolExecutor) -> None:
    server = Standalone(world, caller)
    before = _peak_mebibytes(server.child.pid)
    head = f"POST /cron/tick HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\nTransfer-Encoding: chunked\r\n\r\n"
    piece = b"100000\r\n" + b"x" * 2**20 + b"\r\n"
    with socket.create_connection(("127.0.0.1", server.port)) as connection:
        connection.sendall(head.encode() + piece)
        assert b" 413 " in connection.recv(4096)
        with suppress(OSError):
            for _ in range(300):
                connection.sendall(piece)
    assert _peak_mebibytes(server.child.pid) - before < 30


def _peak_mebibytes(pid: int) -> int:
    [line] = [line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) // 1024
