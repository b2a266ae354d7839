"""What the app's process says to the one that started it: that it serves, or why it does not."""

import os
from contextlib import suppress
from typing import Final

_SERVES: Final = b"\0serves"
LIMIT_BYTES: Final = 32_768
"""Half of what a pipe holds: saying it never waits for the one who reads."""


class Word:
    """The end of the pipe that speaks, once."""

    def __init__(self, descriptor: int) -> None:
        os.set_inheritable(descriptor, False)  # noqa: FBT003 (os's own signature)
        self._descriptor: int | None = descriptor

    def serves(self) -> None:
        """Calls are answered from now on."""
        self._say(_SERVES)

    def fails(self, why: str) -> None:
        """The process will end without having served; without secrets, for it is shown to whoever calls."""
        self._say(why.encode(errors="replace")[:LIMIT_BYTES])

    def _say(self, what: bytes) -> None:
        if self._descriptor is not None:
            with suppress(OSError):  # the parent is gone, and this process ends with it
                os.write(self._descriptor, what)
            os.close(self._descriptor)
            self._descriptor = None


class Ear:
    """The end that listens, without waiting."""

    def __init__(self, descriptor: int) -> None:
        os.set_blocking(descriptor, False)
        self._descriptor = descriptor
        self._heard = b""

    def listen(self) -> None:
        """Take in what was said since."""
        with suppress(BlockingIOError):
            while part := os.read(self._descriptor, LIMIT_BYTES):
                self._heard += part

    @property
    def serves(self) -> bool:
        """Whether the process served, be it there still or not."""
        return self._heard == _SERVES

    @property
    def why_not(self) -> str:
        """What it said of its failure; empty when it ended without a word."""
        return "" if self.serves else self._heard.decode(errors="replace")

    def close(self) -> None:
        """Nothing is heard afterwards."""
        os.close(self._descriptor)
