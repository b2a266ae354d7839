"""What a receiver's answer makes of an attempt."""

from datetime import UTC, datetime
from typing import Final

from crontick.jobs import texts
from crontick.jobs.backoff import delay_seconds
from crontick.jobs.context import Context
from crontick.jobs.outbound import Answer, retry_after_seconds
from crontick.jobs.outcomes import LATER, found
from crontick.jobs.signals import Permanent, Retry

__all__ = ["judge", "kept"]

_KEPT_CHARACTERS: Final = 500


def judge(answer: Answer, host: str, ctx: Context, *, gone: str = "it wants no more of these") -> None:
    """2xx: nothing. 408, 425, 429, 5xx: ``Retry``, not before what it asks for. 3xx and other 4xx: ``Permanent``.

    The beginning of the answer's body is kept with the attempt, and leaves it for no summary. ``gone`` is what a 410
    means.
    """
    status = answer.status
    ctx.target = found(status)
    if 200 <= status < 300:
        return
    said, body = f"{status} from {host}", kept(answer.body)
    if status == 410:
        raise Permanent(f"{said}: {gone}", status_code=status, detail=body)
    if 300 <= status < 400:
        where = "a redirect is not followed, write the URL that it leads to"
        raise Permanent(f"{said}: {where}", status_code=status, detail=body)
    if 400 <= status < 500 and status not in LATER:
        raise Permanent(said, status_code=status, detail=body)
    after = retry_after_seconds(answer.headers, datetime.now(UTC))
    if after is not None:  # never earlier than asked, and never hotter than our own delays
        after = max(after, delay_seconds(ctx.kind.backoff, ctx.attempt))
    raise Retry(said, after=after, status_code=status, detail=body)


def kept(body: bytes) -> str:
    """On one line, for it stands behind a colon in an error."""
    return texts.storable(" ".join(body.decode("utf-8", "replace").split()), limit=_KEPT_CHARACTERS)
