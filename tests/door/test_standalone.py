"""A process that is all ours ends when it must: stopped, stuck or blocked."""

import json
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from crontick.handler.loopback import HOST, free_port
from tests.door.serving import TOKEN, exchange, head, read_answer
from tests.worlds.waiting import listens, until


@dataclass(frozen=True, slots=True)
class Process:
    """A standalone door and where it listens."""

    run: "subprocess.Popen[str]"
    address: tuple[str, int]

    def ended(self) -> tuple[int, str, str]:
        """Status, stdout and stderr, once it has ended by itself."""
        out, err = self.run.communicate(timeout=30)
        return self.run.returncode, out, err


@contextmanager
def standalone(behaviour: str) -> Iterator[Process]:
    address = HOST, free_port()
    command = [sys.executable, "-m", "tests.door.standalone", behaviour, str(address[1])]
    run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        until(lambda: listens(address[1]), seconds=30)
        yield Process(run, address)
    finally:
        run.kill()
        run.wait()


def begun(process: Process) -> socket.socket:
    """A connection on which a tick was asked for, once that tick runs."""
    connection = socket.create_connection(process.address, timeout=30)
    connection.sendall(head())
    assert process.run.stdout is not None
    assert "begun\n" in iter(process.run.stdout.readline, "")
    return connection


def test_sigterm_stops_the_claiming_and_the_answer_is_still_sent() -> None:
    with standalone("until_stopped") as process, begun(process) as connection:
        process.run.send_signal(signal.SIGTERM)
        answer = read_answer(connection)
        status, _, _ = process.ended()
    assert answer.json["stop_reason"] == "shutdown"
    assert status in (0, -signal.SIGTERM)


def test_a_tick_without_a_caller_is_stopped_and_finished_too() -> None:
    with standalone("until_stopped") as process:
        begun(process).close()
        process.run.send_signal(signal.SIGTERM)
        _, _, err = process.ended()
    assert '"stop_reason": "shutdown"' in err


def test_a_blocked_loop_ends_the_process_and_shows_where_it_stood() -> None:
    with standalone("blocks") as process, begun(process):
        status, _, err = process.ended()
    assert status == 70
    assert "event loop has been blocked" in err
    assert "in blocks" in err


def test_a_process_with_a_stuck_thread_answers_and_then_retires() -> None:
    with standalone("leaves_a_thread") as process:
        assert exchange(process.address, head()).status == 200
        status, _, _ = process.ended()
    assert status in (0, -signal.SIGTERM)


def test_no_secret_reaches_a_log_line() -> None:
    with standalone("fails") as process:
        assert exchange(process.address, head("POST", f"/cron/tick?token={TOKEN}")).status == 401
        assert exchange(process.address, head()).status == 500
        process.run.send_signal(signal.SIGTERM)
        _, out, err = process.ended()
    assert TOKEN not in out + err
    assert "hunter2" not in out + err
    assert "POST /cron/tick HTTP/1.1" in out + err
    (line,) = [json.loads(line) for line in err.splitlines() if line.startswith("{")]
    assert (line["level"], line["message"]) == ("error", "the tick failed")
    assert line["error"] == "RuntimeError: the password is [secret]"
    assert "in fails" in line["traceback"]
