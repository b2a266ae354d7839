"""HTTP kinds: ``[kinds.NAME] url``, whose function is a route of the user's own app, in any language."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

import msgspec

from crontick.jobs.context import Context
from crontick.jobs.kind import Kind, kind
from crontick.jobs.kinds.answers import judge
from crontick.jobs.kinds.http_answer import fate
from crontick.jobs.kinds.post import Target, post
from crontick.jobs.kinds.settings import HttpSettings
from crontick.jobs.outbound import Refused, client
from crontick.jobs.secrets import tokens
from crontick.jobs.signals import Retry
from crontick.jobs.trace_context import without

if TYPE_CHECKING:
    import httpx

__all__ = ["http_kind"]

SIGNING_SECRET: Final = "CRONTICK_SIGNING_SECRET"  # noqa: S105 (the variable's name)


class _Call(msgspec.Struct, frozen=True, kw_only=True):
    """The body of the POST. ``claim`` is a text: it has 63 bits, and JavaScript's numbers hold 53."""

    id: int
    kind: str
    attempt: int
    max_attempts: int
    deadline: str
    claim: str
    created_at: str
    payload: msgspec.Raw
    """As it is stored: what JavaScript or Python would make of its numbers is not ours to choose."""


def http_kind(name: str, url: str) -> Kind[Any]:
    """The kind of that name, whose jobs are POSTed to ``url``, signed with ``CRONTICK_SIGNING_SECRET``."""

    @kind(name, timeout=20, needs=10, breaker=True)
    async def post_job(_payload: Any, ctx: Context) -> Any:
        try:
            secrets = tokens(ctx.secret(SIGNING_SECRET))
        except LookupError as error:
            raise Retry(str(error.args[0])) from None
        target = Target(url=url, name=f"kind {name}", secrets=secrets)
        try:
            answer = await post(ctx, ctx.shared(_door), target, event=f"job-{ctx.job.lineage}", body=_body(ctx))
        except Refused as refused:  # the configuration's fault, which a deploy may mend before the last attempt
            raise Retry(str(refused)) from None
        judge(answer, target.host, ctx)
        return fate(answer, target.host, ctx)

    return post_job


def _door() -> "httpx.AsyncClient":
    """The client of a tick for the operator's own URLs."""
    return client(HttpSettings(), operator=True)


def _body(ctx: Context) -> bytes:
    job = ctx.job
    return msgspec.json.encode(
        _Call(
            id=job.id,
            kind=job.kind,
            attempt=job.attempt,
            max_attempts=job.own_max_attempts or ctx.kind.max_attempts,
            deadline=_moment(ctx.deadline),
            claim=str(ctx.tell_claim()),
            created_at=_moment(job.created_at),
            payload=msgspec.Raw(without(job.payload_text)[0].encode()),
        )
    )


def _moment(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
