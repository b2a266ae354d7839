"""``deliver_webhook``: an event to somebody's URL, until it is taken or refused."""

import re
import time
from typing import Any, Final

import msgspec

from crontick.jobs.context import Context
from crontick.jobs.kind import kind
from crontick.jobs.kinds.answers import judge
from crontick.jobs.kinds.post import Target, post
from crontick.jobs.kinds.targets import check_scheme
from crontick.jobs.signals import Retry

__all__ = ["DeliverWebhook", "deliver_webhook"]

MINUTE, HOUR = 60, 3600
_EVENT_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,128}")


class DeliverWebhook(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """What is delivered, and where to: to a URL, or to an endpoint by its name, which is then signed.

    ``body`` is any JSON. ``event_id`` tells the receiver what it has had before (default: ``job-`` and the lineage).
    """

    body: Any
    url: str | None = None
    endpoint: str | None = None
    event_id: str | None = None

    def __post_init__(self) -> None:
        if (self.url is None) == (self.endpoint is None):
            raise ValueError("give either url or endpoint")
        if self.event_id is not None and not _EVENT_ID.fullmatch(self.event_id):
            raise ValueError("event_id is made of letters, digits, _ and -, at most 128")


class _Bytes(msgspec.Struct, frozen=True):
    """The body as the database has it: a number that went through Python's floats may be another one."""

    body: msgspec.Raw


@kind(
    "deliver_webhook",
    timeout=8,
    needs=6,
    max_attempts=8,
    backoff=[MINUTE, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 24 * HOUR],
)
async def deliver_webhook(payload: DeliverWebhook, ctx: Context) -> dict[str, Any]:
    """POST the body. 2xx: delivered; 408, 425, 429, 5xx and no answer: again later; 3xx and other 4xx: dead.

    A retry has the same ``webhook-id``, for the receiver may have acted on what it did not answer. The result has the
    answer's status code and the seconds that it took.
    """
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
