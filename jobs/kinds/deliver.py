"""One delivery of an event: signed where its receiver is known, and judged by the answer."""

import time
from typing import Any

import msgspec

from crontick.jobs.context import Context
from crontick.jobs.kinds.answers import judge
from crontick.jobs.kinds.deliver_webhook import DeliverWebhook
from crontick.jobs.kinds.post import Target, post
from crontick.jobs.kinds.targets import check_scheme
from crontick.jobs.signals import Retry

__all__ = ["deliver"]


class _Bytes(msgspec.Struct, frozen=True):
    """The body as the database has it: a number that went through Python's floats may be another one."""

    body: msgspec.Raw


async def deliver(payload: DeliverWebhook, ctx: Context) -> dict[str, Any]:
    """The result: the answer's status code, and the seconds that it took. Raises what ends the attempt otherwise."""
    target = await _target(payload, ctx)
    body = msgspec.json.decode(ctx.job.payload_text, type=_Bytes).body
    began = time.monotonic()
    answer = await post(ctx, ctx.http, target, event=payload.event_id or f"job-{ctx.job.lineage}", body=bytes(body))
    judge(answer, target.host, ctx, gone=_gone(payload))
    return {"status_code": answer.status, "seconds": round(time.monotonic() - began, 3)}


async def _target(payload: DeliverWebhook, ctx: Context) -> Target:
    """The URL, and the secrets it is signed with. An endpoint that is not there may be at the next attempt."""
    if payload.endpoint is None:
        assert payload.url is not None  # a payload names one or the other
        target = Target(url=payload.url, name="the URL")
    else:
        try:
            endpoint = await ctx.endpoint(payload.endpoint)
        except LookupError as error:
            raise Retry(str(error.args[0])) from None
        target = Target(url=endpoint.url, name=endpoint.name, secrets=endpoint.secrets)
    check_scheme(target.url, ctx.settings.http)
    return target


def _gone(payload: DeliverWebhook) -> str:
    """What a 410 comes to; the settle pauses the endpoint."""
    if payload.endpoint is None:
        return "it wants no more of these"
    name = payload.endpoint
    return f"it wants no more, and endpoint {name} is disabled: `crontick resume endpoint {name}` when it does again"
