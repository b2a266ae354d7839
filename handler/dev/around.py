"""Around every attempt of a development: what a function raises is shown where one sits, traceback and all."""

import importlib
import os
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from functools import cache
from typing import Any

from crontick.handler.dev.lines import Lines
from crontick.handler.dev.tracebacks import told
from crontick.jobs import Cancel, Context, Snooze
from crontick.jobs.deployment import load_deployment
from crontick.jobs.redact import Redactor
from crontick.jobs.settings import Settings


class Around:
    """The value of CRONTICK_AROUND in the app's process; ``theirs`` is what the user's environment named."""

    lines = Lines()
    theirs: str | None = None

    @asynccontextmanager
    async def __call__(self, ctx: Context) -> AsyncIterator[None]:
        """Tell what comes out of the attempt, and let it pass."""
        try:
            async with self._inner(ctx):
                yield
        except (Snooze, Cancel):
            raise
        except Exception as error:
            sentence = f"{ctx.job.kind} {ctx.job.id} raised {type(error).__name__} in attempt {ctx.job.attempt}"
            fields = {"job": ctx.job.id, "kind": ctx.job.kind, "attempt": ctx.job.attempt}
            self.lines.tell("error", sentence, text=_redact()(ctx.hides(told(error))), fields=fields)
            raise

    def _inner(self, ctx: Context) -> AbstractAsyncContextManager[Any]:
        if self.theirs is None:
            return nullcontext()
        module, _, name = self.theirs.partition(":")
        theirs: Callable[[Context], AbstractAsyncContextManager[Any]] = getattr(importlib.import_module(module), name)
        return theirs(ctx)


around = Around()


@cache
def _redact() -> Redactor:
    return load_deployment(Settings.from_environ(os.environ)).redact
