"""The deployment's own hook: a context manager around every attempt, an async one or a plain one."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

from crontick.jobs.threads import SyncSide

__all__ = ["call_within"]


async def call_within(manager: Any, function: Callable[[], Any], sync_side: SyncSide | None) -> Any:
    """The function's value; ``sync_side`` is where a sync one runs, None stands for an async one.

    An async manager is entered in the tick's loop, a plain one where the function runs: what belongs to a thread, as
    Django's connections do, can be reached from that thread only.
    """
    if hasattr(manager, "__aenter__"):
        async with manager:
            return await (function() if sync_side is None else sync_side.run(function))
    if sync_side is None:
        with manager:
            return await function()
    return await sync_side.run(partial(_within, manager, function))


def _within(manager: AbstractContextManager[Any], function: Callable[[], Any]) -> Any:
    with manager:
        return function()
