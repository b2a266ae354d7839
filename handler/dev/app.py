"""The process that serves the app, started anew when its code changes."""

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final

import msgspec

END_SECONDS: Final = 10.0
_MODULE: Final = "crontick.handler.dev.served"


class App:
    """One process at a time. The socket outlives them all, so that a call during a restart waits for its end."""

    def __init__(
        self, listener: socket.socket, environ: Callable[[], Mapping[str, str]], orders: Mapping[str, Any]
    ) -> None:
        self._listener = listener
        self._environ = environ
        self._orders = orders
        self._process: subprocess.Popen[bytes] | None = None
        self._hold: int | None = None
        self.has_answered = False

    @property
    def status(self) -> int | None:
        """How the process ended; None while it runs, and before it was started."""
        return None if self._process is None else self._process.poll()

    def start(self) -> None:
        """Start the process with the environment as it is to be now; one that ran before is ended."""
        self.end()
        theirs, self._hold = os.pipe()
        orders = {**self._orders, "listener": self._listener.fileno(), "parent": theirs}
        self.has_answered = False
        self._process = subprocess.Popen(  # noqa: S603 (our own interpreter, our own module)
            [sys.executable, "-m", _MODULE, msgspec.json.encode(orders).decode()],
            env=dict(self._environ()),
            pass_fds=(self._listener.fileno(), theirs),
        )
        os.close(theirs)

    def end(self) -> None:
        """Have it finish what it is doing, within ``END_SECONDS``; nothing runs afterwards."""
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None
        if self._hold is not None:
            with suppress(OSError):
                os.close(self._hold)
            self._hold = None
