"""One call of a library that blocks, on a daemon thread of its own: a hanging one must not fill asyncio's executor."""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

__all__ = ["in_thread"]

T = TypeVar("T")


async def in_thread(call: Callable[[], T], name: str) -> T:
    """What the call returns or raises.

    Whoever stops waiting leaves the thread behind, which keeps neither loop nor process.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[tuple[Any, Exception | None]] = loop.create_future()

    def tell(value: Any, error: Exception | None) -> None:
        if not future.done():
            future.set_result((value, error))

    def run() -> None:
        value: Any = None
        raised: Exception | None = None
        try:
            value = call()
        except Exception as error:  # noqa: BLE001 (whatever it is, it belongs to the caller)
            raised = error
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(tell, value, raised)

    threading.Thread(target=run, name=name, daemon=True).start()
    value, error = await future
    if error is not None:
        raise error
    answer: T = value
    return answer
