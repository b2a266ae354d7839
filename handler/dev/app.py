"""The process that serves the app, started anew when its code changes."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final

import msgspec

from crontick.handler.dev.stand_in import StandIn
from crontick.handler.dev.word import Ear

END_SECONDS: Final = 10.0
START_SECONDS: Final = 10.0
"""So long a call waits for an app that starts; after that it is told so."""
_MODULE: Final = "crontick.handler.dev.served"
_LATE: Final = f"the app started {START_SECONDS:g} s ago and does not serve yet: call again"
_SILENT: Final = "the app did not start: the terminal of crontick dev has what it said"


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
        self._ear: Ear | None = None
        self._stand_in: StandIn | None = None
        self._late_at_seconds = 0.0

    @property
    def status(self) -> int | None:
        """How the process ended; None while it runs, and before it was started."""
        return None if self._process is None else self._process.poll()

    @property
    def has_served(self) -> bool:
        """Whether this process came so far, as of the last ``look``."""
        return self._ear is not None and self._ear.serves

    def start(self) -> None:
        """Start the process with the environment as it is to be now; one that ran before is ended."""
        self.end()
        theirs, self._hold = os.pipe()
        ours, word = os.pipe()
        self._ear = Ear(ours)
        self._late_at_seconds = time.monotonic() + START_SECONDS
        orders = {**self._orders, "listener": self._listener.fileno(), "parent": theirs, "word": word}
        self._process = subprocess.Popen(  # noqa: S603 (our own interpreter, our own module)
            [sys.executable, "-m", _MODULE, msgspec.json.encode(orders).decode()],
            env=dict(self._environ()),
            pass_fds=(self._listener.fileno(), theirs, word),
        )
        os.close(theirs)
        os.close(word)

    def look(self) -> None:
        """Hear what the process says; while it does not serve, and is not about to, somebody else answers."""
        if self._ear is None:
            return
        has_ended = self.status is not None  # asked first: what it said before its end is then heard
        self._ear.listen()
        if self._ear.serves:
            self._stand_down()
        elif has_ended:
            self._stand_up(self._ear.why_not or _SILENT)
        elif time.monotonic() >= self._late_at_seconds:
            self._stand_up(_LATE)

    def end(self) -> None:
        """Have it finish what it is doing, within ``END_SECONDS``; nothing runs afterwards."""
        self._stand_down()
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
        if self._ear is not None:
            self._ear.close()
            self._ear = None

    def _stand_up(self, why: str) -> None:
        if self._stand_in is None:
            self._stand_in = StandIn(self._listener, why)
        self._stand_in.why = why

    def _stand_down(self) -> None:
        if self._stand_in is not None:
            self._stand_in.end()
            self._stand_in = None
