"""``send_email``: one mail, once."""

from typing import Any

from crontick.jobs.context import Context
from crontick.jobs.kind import kind
from crontick.jobs.kinds.mail import SendEmail

__all__ = ["SendEmail", "send_email"]


@kind(
    "send_email",
    queue="mail",
    priority=10,
    timeout=15,
    needs=8,
    max_attempts=5,
    backoff=[60, 300, 1800, 7200],
    marker="dedupe_key",
    breaker=True,
)
async def send_email(payload: SendEmail, ctx: Context) -> dict[str, Any] | None:
    """Hand one mail in. A 4xx and no connection: again later; a 5xx: dead; cut off after its content: in doubt.

    Recipients that are refused for now get a mail of their own later; those refused for good are in the result.
    """
    # Imported here: a tick that sends no mail does not pay for it.
    from crontick.jobs.kinds.hand_in import hand_in

    return await hand_in(payload, ctx)
