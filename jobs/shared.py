"""What all attempts of one tick share: made when first asked for, closed with the tick."""

import asyncio
import inspect
import logging
import threading
from collections.abc import Callable
from typing import Any, Final, TypeVar

__all__ = ["Shared"]

T = TypeVar("T")
_CLOSING_SECONDS: Final = 2.0
_LOG: Final = logging.getLogger("crontick.tick")


class Shared:
    """One object for each thing that makes one; ``aclose`` or ``close`` of each is called at the end of the tick."""

    __slots__ = ("_lock", "_made")

    def __init__(self) -> None:
        self._made: dict[Callable[[], Any], Any] = {}
        self._lock = threading.Lock()  # sync functions ask from their threads

    def get(self, make: Callable[[], T]) -> T:
        """What ``make`` made the first time, in this tick."""
        with self._lock:
            if make not in self._made:
                self._made[make] = make()
            made: T = self._made[make]
            return made

    async def close(self) -> None:
        """Close all of them at once, in two seconds: one that fails or hangs keeps no answer back."""
        made, self._made = self._made, {}
        if made:
            await asyncio.gather(*map(_closed, made.values()))


async def _closed(made: Any) -> None:
    close = getattr(made, "aclose", None) or getattr(made, "close", None)
    if close is None:
        return
    try:
        async with asyncio.timeout(_CLOSING_SECONDS):
            said = close()
            if inspect.isawaitable(said):
                await said
    except Exception as error:  # noqa: BLE001 (a user's object may raise anything, after all its jobs have ended)
        _LOG.warning("%s could not be closed (%s)", type(made).__name__, type(error).__name__)
