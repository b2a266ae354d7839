"""``deliver_webhook``: an event to somebody's URL, until it is taken or refused."""

import re
from typing import Any, Final

import msgspec

from crontick.jobs.context import Context
from crontick.jobs.kind import kind

__all__ = ["DeliverWebhook", "deliver_webhook"]

MINUTE, HOUR = 60, 3600
_EVENT_ID: Final = r"[A-Za-z0-9_-]{1,128}"


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
        if self.event_id is not None and not re.fullmatch(_EVENT_ID, self.event_id):
            raise ValueError("event_id is made of letters, digits, _ and -, at most 128")


@kind(
    "deliver_webhook",
    timeout=8,
    needs=6,
    max_attempts=8,
    backoff=[MINUTE, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 24 * HOUR],
    breaker=True,
)
async def deliver_webhook(payload: DeliverWebhook, ctx: Context) -> dict[str, Any]:
    """POST the body. 2xx: delivered; 408, 425, 429, 5xx and no answer: again later; 3xx and other 4xx: dead.

    A retry has the same ``webhook-id``, for the receiver may have acted on what it did not answer. The result has the
    answer's status code and the seconds that it took.
    """
    # Imported here: a tick that delivers nothing does not pay for it.
    from crontick.jobs.kinds.deliver import deliver

    return await deliver(payload, ctx)
