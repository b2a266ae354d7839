"""Asking the platform for more ticks while this one runs, when more is due than it can take (P42)."""

import asyncio
import os
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import msgspec

from crontick.jobs.bounds import Bounds
from crontick.jobs.caller import FAN_OUT
from crontick.jobs.deployment import Deployment
from crontick.jobs.fan_out_way import NOT_ASKED, FanOutError, tick_url, told_mend
from crontick.jobs.request import TickRequest
from crontick.jobs.settings import LAMBDA_FUNCTION
from crontick.jobs.summary import Summary

if TYPE_CHECKING:
    import httpx

__all__ = ["FanOut"]

_LARGEST_LIMIT: Final = 1000
_SENT_WITHIN_SECONDS: Final = 5.0
_REFUSED_WITHIN_SECONDS: Final = 0.5
"""A request that is let in is answered when its tick has ended, and one that is refused at once."""
_LEAST_SECONDS: Final = 1.0


class FanOut:
    """The ticks that one tick asks for. Nothing that goes wrong with them is raised: it is a warning."""

    def __init__(self, deployment: Deployment, bounds: Bounds, request: TickRequest) -> None:
        self._deployment = deployment
        self._bounds = bounds
        self._fields = _fields(request)
        self._http: httpx.AsyncClient | None = None
        self._asks: list[tuple[asyncio.Task[str | None], asyncio.Future[None]]] = []

    def ask(self, ticks: int) -> None:
        """Begin to ask for so many, beside this tick's own work."""
        for _ in range(ticks):
            written: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._asks.append((asyncio.create_task(self._ask(written)), written))

    async def end(self, summary: Summary) -> None:
        """Count those that were asked for, once this tick's own work is done.

        An answer over HTTP comes when the other tick has ended, which is not waited for: a request that was handed
        over, and that nobody refused, was taken.
        """
        for warning in await asyncio.gather(*(self._heard(task, written) for task, written in self._asks)):
            if warning is None:
                summary.asked += 1
            else:
                summary.warn(self._deployment.redact(f"{NOT_ASKED}: {warning}"))

    async def close(self) -> None:
        """Hang up. A tick goes on when its caller does."""
        for task, _ in self._asks:
            task.cancel()
        await asyncio.gather(*(task for task, _ in self._asks), return_exceptions=True)
        if self._http is not None:
            await self._http.aclose()

    async def _heard(self, task: "asyncio.Task[str | None]", written: "asyncio.Future[None]") -> str | None:
        sent_within = min(_SENT_WITHIN_SECONDS, max(self._bounds.left, _LEAST_SECONDS))
        either: set[asyncio.Future[Any]] = {task, written}
        await asyncio.wait(either, timeout=sent_within, return_when=asyncio.FIRST_COMPLETED)
        if not task.done() and written.done():
            await asyncio.wait({task}, timeout=_REFUSED_WITHIN_SECONDS)
        if task.done():
            return task.result()
        return None if written.done() else f"it could not be sent within {sent_within:g} s"

    async def _ask(self, written: "asyncio.Future[None]") -> str | None:
        """None when it was taken, else why it was not."""
        try:
            function, section = os.environ.get(LAMBDA_FUNCTION), self._deployment.config.fan_out
            if function and (section is None or section.url is None):
                return await self._invoke(function)
            return await self._call(written)
        except FanOutError as error:
            return str(error)
        except Exception as error:  # noqa: BLE001 (a tick that cannot ask for others does its own work all the same)
            ours = type(error).__module__.startswith("crontick")
            return str(error) if ours else type(error).__name__

    async def _invoke(self, function: str) -> str | None:
        """This very function and version, asynchronously: the platform's queue takes it at once and runs it beside."""
        from crontick.jobs.aws_client import AwsError, call_aws

        parameters: dict[str, Any] = {
            "FunctionName": function,
            "InvocationType": "Event",
            "Payload": msgspec.json.encode({"crontick": "tick", **self._fields}),
        }
        version = os.environ.get("AWS_LAMBDA_FUNCTION_VERSION", "$LATEST")
        if version != "$LATEST":
            parameters["Qualifier"] = version
        try:
            await call_aws("lambda", "invoke", parameters, seconds=_SENT_WITHIN_SECONDS)
        except AwsError as error:
            return f"{error}{told_mend(error.code)}"
        return None

    async def _call(self, written: "asyncio.Future[None]") -> str | None:
        """This deployment's own URL. Held until this tick ends: there are hosts that end a request with its caller."""
        from crontick.jobs.outbound import Unanswered, client, send

        settings, section = self._deployment.settings, self._deployment.config.fan_out
        url = tick_url(settings, section)
        if self._http is None:
            self._http = client(self._deployment.config.http, operator=True)
        try:
            answer = await send(
                self._http,
                url,
                content=msgspec.json.encode(self._fields),
                headers={
                    "authorization": f"Bearer {settings.cron_secrets[0]}",
                    "content-type": "application/json",
                    "user-agent": "crontick",
                },
                seconds=max(self._bounds.left, _LEAST_SECONDS),
                on_written=lambda: None if written.done() else written.set_result(None),
            )
        except Unanswered as error:
            # Handed over whole, and its tick runs on.
            return None if written.done() and "in time" in str(error) else str(error)
        if 200 <= answer.status < 300:
            return None
        return f"{urlsplit(url).hostname} answered {answer.status}{told_mend(str(answer.status))}"


def _fields(request: TickRequest) -> dict[str, Any]:
    """The same work for the next one, a step deeper."""
    given = {
        "limit": None if request.limit is None else min(request.limit, _LARGEST_LIMIT),
        "budget_seconds": request.budget_seconds,
        "queues": request.queues,
        "kinds": request.kinds,
    }
    told = {name: value for name, value in given.items() if value is not None}
    return {**told, "trigger": FAN_OUT, "depth": request.depth + 1}
