"""``deliver_webhook``: an event to somebody's URL, until it is taken or refused."""

import re
import time
from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec

from crontick.jobs.context import Context
from crontick.jobs.kind import kind
from crontick.jobs.kinds.answers import judge
from crontick.jobs.kinds.signature import SecretError, signature
from crontick.jobs.kinds.targets import check_scheme
from crontick.jobs.outbound import NotConnected, Unanswered, send
from crontick.jobs.secrets import tokens
from crontick.jobs.signals import Retry

__all__ = ["DeliverWebhook", "deliver_webhook"]

MINUTE, HOUR = 60, 3600
_EVENT_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,128}")
_OUR_SHARE: Final = 0.5
"""Seconds of the attempt that remain for what is not the receiver's: its silence is to end in our words."""


class DeliverWebhook(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """What is delivered, and where to: to a URL, or to a ``[[webhook_endpoint]]`` by its name, which is then signed.

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
    url, secrets = _target(payload, ctx)
    body = msgspec.json.decode(ctx.job.payload_text, type=_Bytes).body
    event, at = payload.event_id or f"job-{ctx.job.lineage}", int(time.time())
    headers = {"content-type": "application/json", "webhook-id": event, "webhook-timestamp": str(at)}
    if secrets:
        try:
            headers["webhook-signature"] = signature(secrets, event, at, bytes(body))
        except SecretError as error:
            raise Retry(f"a signing secret of {payload.endpoint} {error}") from None
    seconds = max(ctx.kind.timeout_seconds - _OUR_SHARE, _OUR_SHARE)
    began = time.monotonic()
    try:
        answer = await send(ctx.http, url, content=bytes(body), headers=headers, seconds=seconds)
    except (NotConnected, Unanswered) as error:
        raise Retry(str(error)) from None
    judge(answer, urlsplit(url).hostname or "", ctx)
    return {"status_code": answer.status, "seconds": round(time.monotonic() - began, 3)}


def _target(payload: DeliverWebhook, ctx: Context) -> tuple[str, Sequence[str]]:
    """The URL, and the secrets it is signed with. What the configuration lacks may be there at the next attempt."""
    if payload.url is not None:
        url, secrets = payload.url, []
    else:
        endpoint = next((known for known in ctx.settings.webhook_endpoint if known.name == payload.endpoint), None)
        if endpoint is None:
            raise Retry(f"crontick.toml has no [[webhook_endpoint]] named {payload.endpoint}")
        try:
            url = endpoint.url
            secrets = [one for name in endpoint.secret_names for one in tokens(ctx.secret(name))]
        except LookupError as error:
            raise Retry(str(error.args[0])) from None
    check_scheme(url, ctx.settings.http)
    return url, secrets
