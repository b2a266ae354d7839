"""A marker as a function meets it: reserved before the send, and settled as sent, free or in doubt after it."""

import hashlib
import re
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final

import msgspec

from crontick.jobs import texts
from crontick.jobs.outcomes import Mark, Reservation
from crontick.jobs.payload import encode_json
from crontick.jobs.signals import LeaseLost, Signal, Snooze

if TYPE_CHECKING:
    from crontick.jobs.context import Context

__all__ = ["InDoubt", "Once", "nothing_was_sent"]

_CHARACTERS: Final = 1000
_UNSTORABLE: Final = "[\x00\ud800-\udfff]"
_BEFORE_THE_SEND: Final = frozenset(
    {
        ("httpx", "ConnectError"),
        ("httpx", "ConnectTimeout"),
        ("httpx", "PoolTimeout"),
        ("httpx", "UnsupportedProtocol"),
        ("httpx", "InvalidURL"),
        ("httpx", "HTTPStatusError"),
        ("aiosmtplib", "SMTPConnectError"),
        ("aiosmtplib", "SMTPConnectTimeoutError"),
        ("aiosmtplib", "SMTPConnectResponseError"),
        ("aiosmtplib", "SMTPHeloError"),
        ("aiosmtplib", "SMTPAuthenticationError"),
        ("aiosmtplib", "SMTPSenderRefused"),
        ("aiosmtplib", "SMTPRecipientRefused"),
        ("aiosmtplib", "SMTPRecipientsRefused"),
    }
)


class InDoubt(Exception):
    """Nobody knows whether this was sent, and the kind's policy is to ask a person."""


def nothing_was_sent(error: BaseException) -> bool:
    """Whether this error proves that nothing can have arrived: our signals, no connection, an answer that says no.

    An error with an attribute ``nothing_sent`` says so itself. Libraries are told by name, so that none is imported.
    """
    said = getattr(error, "nothing_sent", None)
    if said is not None:
        return bool(said)
    if isinstance(error, Signal | LeaseLost):
        return True
    return any((base.__module__.split(".")[0], base.__name__) in _BEFORE_THE_SEND for base in type(error).__mro__)


class Once:
    """``async with ctx.once(key) as mark``: sent at most once, and the doubt is kept where nobody can know.

    ``mark.sent`` is true when it was sent before: skip. Left normally it is sent; left by an exception it is free again
    if nothing can have arrived, else in doubt. ``not_sent()`` and ``in_doubt()`` overrule.

    Where the provider takes idempotency keys (the kind's ``window``) the hash of the content is stored before the block
    begins, for the attempt after one that dies in it: a send in doubt is repeated with the same bytes only (P21), else
    ``InDoubt`` is raised, unless the kind says ``resend``.
    """

    __slots__ = (
        "_ctx",
        "_doubted",
        "_fate",
        "_storing",
        "content_hash",
        "details",
        "key",
        "message_id",
        "provider",
        "repeats",
        "sent",
        "sent_by",
    )

    def __init__(self, ctx: "Context", key: str | None, content: bytes | None = None) -> None:
        self._ctx = ctx
        self._fate: str | None = None
        self._doubted: str | None = None
        self.key = ctx.job.marker or f"job:{ctx.job.lineage}" if key is None else key
        self.sent = False
        self.sent_by: int | None = None
        self.repeats = False
        self.provider: str | None = None
        self.message_id: str | None = None
        self.content_hash: str | None = None
        self.details: dict[str, Any] | None = None
        self._storing: str | None = None
        if content is not None:
            self.will_send(content)

    def will_send(self, content: bytes) -> None:
        """Before the block begins: what it is going to send."""
        self.content_hash = hashlib.sha256(content).hexdigest()
        self._storing = self.content_hash

    @property
    def idempotency_key(self) -> str:
        """What to tell a provider that takes such keys: the same for all attempts that send the same."""
        own = self._hash
        return self._key(own) if self._changed else self._key()

    @property
    def key_of_its_own(self) -> str:
        """A key that nothing but these bytes ever has, for a provider to which another mail went under the first."""
        return self._key(self._hash)

    @property
    def _hash(self) -> str:
        if self.content_hash is None:
            raise ValueError("there is no idempotency key without content: ctx.once(content=…)")
        return self.content_hash

    def _key(self, *more: str) -> str:
        named = ":".join((self._ctx.kind.name, self.key, *more))
        return hashlib.sha256(named.encode("utf-8", "replace")).hexdigest()

    @property
    def _changed(self) -> bool:
        return bool(self._doubted) and self.content_hash is not None and self._doubted != self.content_hash

    def not_sent(self) -> None:
        """Whatever happens next: nothing arrived, the marker is free again."""
        self._fate = "free"

    def in_doubt(self) -> None:
        """Whatever happens next: nobody knows whether it arrived."""
        self._fate = "in_doubt"

    async def __aenter__(self) -> "Once":
        ctx = self._ctx
        ctx.check_lease()
        if re.search(_UNSTORABLE, self.key):
            raise ValueError(f"ctx.once({self.key[:80]!r}): PostgreSQL stores no NUL and no half of a surrogate pair")
        own = self.key == ctx.job.marker
        if own:  # the claim reserved it, in the trip that took the job
            self._doubted = ctx.job.marker_hash
        if not own or (self._storing is not None and ctx.kind.window_seconds and not self._doubted):
            self._judge(await ctx.reserve(self.key, self._storing))
        self.repeats = self._doubted is not None
        return self._entered()

    def __enter__(self) -> "Once":
        """For sync functions, which run in a thread: the question is asked on the tick's loop."""
        return self._ctx.wait(self.__aenter__())

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._left(error)

    def _entered(self) -> "Once":
        if self.sent:
            return self
        self._ctx.marks[self.key] = None
        if self._changed and self._ctx.kind.in_doubt != "resend":
            raise InDoubt(f'"{self.key}" is in doubt, and what would be sent now is not what was sent then')
        return self

    def _judge(self, found: Reservation) -> None:
        policy = self._ctx.kind.in_doubt
        if found.state == "lost":
            raise LeaseLost(f"job {self._ctx.job.id}: the lease was lost, someone else may have it")
        if found.state == "taken":
            raise Snooze(found.seconds)
        if found.state == "in_doubt" and policy == "park":
            raise InDoubt(f'job {found.holder} left "{self.key}" in doubt: nobody knows whether it was sent')
        if found.state in ("sent", "in_doubt"):
            self.sent, self.sent_by = True, found.holder
        self._doubted = self._doubted or found.doubted

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._left(error)

    def _left(self, error: BaseException | None) -> None:
        if self.sent:
            return
        if error is None:
            state = self._fate or "sent"
        else:
            state = self._fate or ("free" if nothing_was_sent(error) else "in_doubt")
        self._ctx.marks[self.key] = Mark(
            self._ctx.kind.name,
            self.key,
            state,
            _storable(self.provider),
            _storable(self.message_id),
            _storable(self.content_hash),
            None if self.details is None else _storable_details(self.details),
        )


def _storable(said: object) -> str | None:
    """What a provider answered may be anything, and that it was sent must be written whatever it was."""
    return None if said is None else texts.storable(said, limit=_CHARACTERS)


def _storable_details(details: dict[str, Any]) -> dict[str, Any]:
    try:
        return dict(msgspec.json.decode(encode_json(details)))
    except ValueError as error:
        return {"left_out": texts.storable(error, limit=_CHARACTERS)}
