"""One POST to a receiver, signed as Standard Webhooks says."""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import msgspec

from crontick.jobs.context import Context
from crontick.jobs.kinds.signature import SecretError, signature
from crontick.jobs.outbound import Answer, NotConnected, Unanswered, send
from crontick.jobs.signals import Retry
from crontick.jobs.trace_context import traceparent

if TYPE_CHECKING:
    import httpx

__all__ = ["Target", "post"]

_OUR_SHARE: Final = 0.5
"""Seconds of the attempt that remain for what is not the receiver's: its silence is to end in our words."""


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """``name`` is what a person calls it; without secrets nothing is signed."""

    url: str
    name: str
    secrets: Sequence[str] = ()

    @property
    def host(self) -> str:
        """All of the URL that may be told."""
        return urlsplit(self.url).hostname or ""


async def post(ctx: Context, door: "httpx.AsyncClient", target: Target, *, event: str, body: bytes) -> Answer:
    """The answer, whatever it says; none in the attempt's time is ``Retry``.

    ``event`` is the same over all attempts, for the receiver may have acted on what it did not answer; the timestamp is
    this attempt's own. Of a trace its ``traceparent`` goes along, and nothing else.
    """
    at = int(time.time())
    headers = {"content-type": "application/json", "webhook-id": event, "webhook-timestamp": str(at)}
    if trace := traceparent(ctx.job.payload_text):
        headers["traceparent"] = trace
    if target.secrets:
        try:
            headers["webhook-signature"] = signature(target.secrets, event, at, body)
        except SecretError as error:
            raise Retry(f"a signing secret of {target.name} {error}") from None
    seconds = max(ctx.kind.timeout_seconds - _OUR_SHARE, _OUR_SHARE)
    try:
        return await send(door, target.url, content=body, headers=headers, seconds=seconds)
    except (NotConnected, Unanswered) as error:
        ctx.target = "failed"
        raise Retry(str(error)) from None
