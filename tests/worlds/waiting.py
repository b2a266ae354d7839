"""Waiting for a fact with a deadline, never for an amount of time."""

import asyncio
import inspect
import socket
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar, overload

T = TypeVar("T")


def until(fact: Callable[[], T], *, seconds: float = 30) -> T:
    """The first true answer of ``fact``; an AssertionError with the last one at the deadline."""
    deadline = time.monotonic() + seconds
    while not (answer := fact()):
        assert time.monotonic() < deadline, f"not so within {seconds:g} s: {_told(fact)} is still {answer!r}"
        time.sleep(0.01)
    return answer


@overload
async def async_until(fact: Callable[[], Awaitable[T]], *, seconds: float = 30) -> T: ...
@overload
async def async_until(fact: Callable[[], T], *, seconds: float = 30) -> T: ...
async def async_until(fact: Callable[[], object], *, seconds: float = 30) -> object:
    """The same, in an event loop that goes on turning; the fact may be async."""
    deadline = time.monotonic() + seconds
    while True:
        said = fact()
        answer = await said if inspect.isawaitable(said) else said
        if answer:
            return answer
        assert time.monotonic() < deadline, f"not so within {seconds:g} s: {_told(fact)} is still {answer!r}"
        await asyncio.sleep(0.01)


def listens(port: int) -> bool:
    """Whether somebody takes connections on that port of the loopback."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _told(fact: Callable[[], object]) -> str:
    try:
        return inspect.getsource(fact).strip()
    except (OSError, TypeError):
        return repr(fact)
