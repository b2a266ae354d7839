"""Around every attempt of a development: what a function raises is shown where one sits."""

import importlib
import os
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from functools import cache
from typing import Any

from crontick.handler.dev.lines import Lines
from crontick.handler.dev.tracebacks import has_own, told
from crontick.jobs import Cancel, Context, Permanent, Retry, Snooze
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
            fields = {"job": ctx.job.id, "kind": ctx.job.kind, "attempt": ctx.job.attempt}
            if isinstance(error, Permanent | Retry) and not has_own(error):
                said, text = (
                    f"failed in attempt {ctx.job.attempt}: {': '.join(filter(None, (error.reason, error.detail)))}",
                    "",
                )
            else:
                said, text = f"raised {type(error).__name__} in attempt {ctx.job.attempt}", told(error)
            sentence = f"{ctx.job.kind} {ctx.job.id} {_redact()(ctx.hides(said))}"
            self.lines.tell("error", sentence, text=_redact()(ctx.hides(text)), fields=fields)
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
