"""Names to addresses, on a thread of our own: a resolver that hangs must not fill asyncio's executor."""

import asyncio
import socket
import threading
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

__all__ = ["Resolver", "resolve"]

Resolver = Callable[[str, int], Awaitable[Sequence[str]]]


async def resolve(host: str, port: int) -> Sequence[str]:
    """Every address of ``host``, in the system's order. Raises ``OSError``.

    Whoever stops waiting leaves a daemon thread behind, which keeps neither loop nor process.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Sequence[str]] = loop.create_future()

    def tell(answer: Sequence[str] | OSError) -> None:
        if future.done():
            return
        if isinstance(answer, OSError):
            future.set_exception(answer)
        else:
            future.set_result(answer)

    def ask() -> None:
        answer: Sequence[str] | OSError
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            answer = list(dict.fromkeys(str(address[0]) for *_, address in found))
        except OSError as error:
            answer = error
        except UnicodeError:  # a label of more than 63 characters
            answer = OSError(f"{host} is not a host name")
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(tell, answer)

    threading.Thread(target=ask, name=f"resolve {host}", daemon=True).start()
    return await future
