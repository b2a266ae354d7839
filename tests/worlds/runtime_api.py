"""Lambda's Runtime API on loopback: hands out invocations to AWS's own runtime client, and keeps what it answers."""

import json
import queue
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

VERSION = "/2018-06-01/runtime"


@dataclass(frozen=True, slots=True)
class Posted:
    """What was posted for one invocation: its answer, or its error."""

    path: str
    body: Any

    @property
    def failed(self) -> bool:
        return self.path.endswith("/error")

    @property
    def answer(self) -> dict[str, Any]:
        """The answer of an invocation that succeeded."""
        assert not self.failed, self.body
        assert isinstance(self.body, dict)
        return self.body

    @property
    def error(self) -> dict[str, Any]:
        """errorType, errorMessage and stackTrace of one that failed."""
        assert self.failed, self.body
        assert isinstance(self.body, dict)
        return self.body


@dataclass(slots=True)
class RuntimeApi:
    """``address`` is for AWS_LAMBDA_RUNTIME_API. One invocation at a time, as on Lambda."""

    address: str = ""
    asked: int = 0
    """How often an invocation was asked for."""
    init_errors: list[Any] = field(default_factory=list)
    _invocations: "queue.SimpleQueue[tuple[str, bytes, float] | None]" = field(default_factory=queue.SimpleQueue)
    _posted: "queue.SimpleQueue[Posted]" = field(default_factory=queue.SimpleQueue)
    _numbers: Iterator[int] = field(default_factory=lambda: iter(range(1, 1000)))

    def send(self, event: Any, *, seconds_left: float = 30, request_id: str | None = None) -> str:
        """Have an invocation handed out when it is next asked for, and ``seconds_left`` from then; its id."""
        number = next(self._numbers)
        request_id = request_id or f"00000000-0000-4000-8000-{number:012}"
        self._invocations.put((request_id, json.dumps(event).encode(), seconds_left))
        return request_id

    def posted(self, *, seconds: float = 20) -> Posted:
        """The next answer or error; an AssertionError when there is none in time."""
        try:
            return self._posted.get(timeout=seconds)
        except queue.Empty:
            raise AssertionError(f"nothing was posted within {seconds:g} s") from None

    def invoke(self, event: Any, *, seconds_left: float = 30, request_id: str | None = None) -> Posted:
        """One invocation, and what became of it."""
        self.send(event, seconds_left=seconds_left, request_id=request_id)
        return self.posted()

    def next_invocation(self, client: socket.socket) -> tuple[str, bytes, float] | None:
        """Once there is one; None when the client has gone meanwhile."""
        self.asked += 1
        found = self._invocations.get()
        if found is not None and _gone(client):
            self._invocations.put(found)  # for the process that comes after it
            return None
        return found

    def keep(self, path: str, body: bytes) -> None:
        decoded = json.loads(body)
        if path == f"{VERSION}/init/error":
            self.init_errors.append(decoded)
        else:
            self._posted.put(Posted(path, decoded))

    def close(self) -> None:
        """Let whoever asks for an invocation go without one."""
        for _ in range(8):
            self._invocations.put(None)


def _gone(client: socket.socket) -> bool:
    try:
        return client.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A process that was killed has reset its connection, which is no error of this server."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def runtime_api() -> Iterator[RuntimeApi]:
    api = RuntimeApi()

    class Door(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            found = api.next_invocation(self.connection)
            if found is None:
                self.close_connection = True
                return
            request_id, body, seconds_left = found
            self.send_response(200)
            self.send_header("Lambda-Runtime-Aws-Request-Id", request_id)
            self.send_header("Lambda-Runtime-Deadline-Ms", str(int((time.time() + seconds_left) * 1000)))
            self.send_header("Lambda-Runtime-Invoked-Function-Arn", "arn:aws:lambda:eu-west-1:111122223333:function:t")
            self.send_header("Lambda-Runtime-Trace-Id", "Root=1-65a00000-000000000000000000000001;Sampled=0")
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(202)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")
            self.wfile.flush()
            api.keep(self.path, body)

        def log_message(self, *_: Any) -> None:
            pass

    server = _Server(("127.0.0.1", 0), Door)
    api.address = f"127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield api
    finally:
        api.close()
        server.shutdown()
        thread.join(30)
        server.server_close()
