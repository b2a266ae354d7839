"""A kind: the name, the payload type and the function of a sort of job, with the numbers that govern its attempts."""

import inspect
import re
import sys
from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeVar, Unpack, overload

import msgspec

from crontick.jobs import backoff as backoffs
from crontick.jobs.enqueue import Options, Order, enqueue, enqueue_many
from crontick.jobs.payload import PayloadType, payload_type
from crontick.jobs.request import NAME_PATTERN

if TYPE_CHECKING:
    from crontick.jobs.connections import AsyncCallersConnection, CallersConnection
    from crontick.jobs.context import Context
    from crontick.jobs.schedules import Schedule

__all__ = ["InDoubt", "Kind", "OnFailure", "kind"]

P = TypeVar("P")
InDoubt = Literal["park", "resend", "skip"]
OnFailure = Literal["block", "pass"]
Delay = timedelta | float
WINDOW_LESS_SECONDS = 3600.0
"""So long before a provider forgets a key, nothing is sent under it any more (P21)."""


class Kind(msgspec.Struct, Generic[P], frozen=True, eq=False):
    """What ``@kind`` returns. It registers nothing: a deployment collects the kinds of its modules."""

    name: str
    function: Callable[..., Any]
    payload: PayloadType
    takes_context: bool
    is_async: bool
    queue: str
    priority: int
    max_attempts: int
    timeout_seconds: float
    needs_seconds: float
    backoff: backoffs.Backoff
    marker: str | None
    in_doubt: InDoubt
    window_seconds: float = 0.0
    """How long the provider knows an idempotency key; 0 where it takes none."""
    secret: frozenset[str] = frozenset()
    on_failure: OnFailure = "block"
    """What a job of a group does to its followers while it waits for another attempt."""
    breaker: bool = False
    """Whether its jobs wait while what they call keeps failing."""
    schedules: tuple["Schedule", ...] = ()
    """What ``@schedule`` says above it."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function itself, as a test may."""
        return self.function(*args, **kwargs)

    # The async ones first: SQLAlchemy's AsyncConnection has a property `connection` of every type, which only raises.
    @overload
    def enqueue(self, conn: "AsyncCallersConnection", payload: P, **options: Unpack[Options]) -> Awaitable[int]: ...
    @overload
    def enqueue(self, conn: "CallersConnection", payload: P, **options: Unpack[Options]) -> int: ...
    def enqueue(self, conn: Any, payload: P, **options: Unpack[Options]) -> Any:
        """Insert a job on the caller's connection, in its transaction; its id, or an awaitable of it on an async one.

        ``run_at`` is an aware datetime, or a timedelta or seconds from now by the database's clock. A unique key
        that is taken returns the id of the job that has it. Raises ``PayloadError`` before anything is sent when the
        payload does not fit its type.
        """
        return enqueue(conn, self.order(payload, **options))

    @overload
    def enqueue_many(
        self, conn: "AsyncCallersConnection", payloads: Iterable[P], **options: Unpack[Options]
    ) -> Awaitable[list[int]]: ...
    @overload
    def enqueue_many(
        self, conn: "CallersConnection", payloads: Iterable[P], **options: Unpack[Options]
    ) -> list[int]: ...
    def enqueue_many(self, conn: Any, payloads: Iterable[P], **options: Unpack[Options]) -> Any:
        """Insert up to 10,000 jobs in one statement; ids in the order of the payloads."""
        return enqueue_many(conn, [self.order(payload, **options) for payload in payloads])

    def order(self, payload: P, **options: Unpack[Options]) -> Order:
        """What ``enqueue`` would send: the checked payload, its secret fields sealed, and its options.

        Beside the payload goes the trace of the current span, where the caller's program has OpenTelemetry.

        Raises ``SealingError`` when there is no key to seal them with.
        """
        text = self.payload.encode(payload)
        if self.secret:
            from crontick.jobs.secret_fields import seal_for_rest

            text = seal_for_rest(text, self.name, self.secret, options.get("unique_key"), options.get("group_key"))
        if "opentelemetry.trace" in sys.modules:
            from crontick.jobs.trace_context import carrying, current

            text = carrying(text, current())
        return Order.build(self.name, text, **options)


class Decorator(Protocol):
    """What ``@kind(…)`` is before it has its function: a kind of the payload that the function takes."""

    @overload
    def __call__(self, function: Callable[[P], Any], /) -> Kind[P]: ...
    @overload
    def __call__(self, function: "Callable[[P, Context], Any]", /) -> Kind[P]: ...


def kind(  # noqa: PLR0913 (each is one number of the kind, by name)
    name: str,
    *,
    queue: str = "default",
    priority: int = 0,
    max_attempts: int = 5,
    timeout: Delay = 10,
    needs: Delay | None = None,
    backoff: Sequence[Delay] | backoffs.Exponential | None = None,
    marker: str | None = None,
    in_doubt: InDoubt = "park",
    window: Delay | None = None,
    secret: Iterable[str] = (),
    on_failure: OnFailure = "block",
    breaker: bool = False,
) -> Decorator:
    """Make a function the function of a kind.

    ``timeout`` (seconds or a timedelta) is the most an attempt may take; ``needs`` is what must be left of a tick for
    it to start, the timeout by default. ``marker`` names the payload's field that is the key of the marker which every
    claim reserves (an empty name: the lineage's first job); ``in_doubt`` is what to do when nobody knows whether it was
    sent. ``window`` is how long the provider knows an idempotency key (``ctx.once(content=…)``): until an hour before
    its end, a send in doubt is repeated under the same key. ``secret`` names fields of the payload that are encrypted
    at rest and shown nowhere. ``on_failure`` says whether a job that failed keeps its group waiting until its next
    attempt (``"block"``), or lets it pass (``"pass"``). ``breaker``: while what it calls keeps failing, its jobs wait
    without using up attempts.
    """
    for what, given in (("kind", name), ("queue", queue)):
        if not re.match(NAME_PATTERN, given):
            raise ValueError(
                f'{what} {given[:80]!r} is no name: lower-case letters, digits, "_", "." and "-", 64 at most'
            )
    timeout_seconds, needs_seconds = _seconds(timeout), _seconds(timeout if needs is None else needs)
    if timeout_seconds <= 0 or needs_seconds < 0:
        raise ValueError(f"kind {name}: timeout and needs are positive numbers of seconds")
    if not 1 <= max_attempts <= 100 or not -100 <= priority <= 100:
        raise ValueError(f"kind {name}: max_attempts is 1 to 100, priority -100 to 100")
    hidden = frozenset([secret] if isinstance(secret, str) else secret)
    if marker in hidden:
        raise ValueError(f"kind {name}: {marker} is secret, and a marker's key is kept in clear: name another field")
    window_seconds = 0.0 if window is None else _seconds(window)
    if window is not None and (marker is None or window_seconds <= WINDOW_LESS_SECONDS):
        raise ValueError(f"kind {name}: window belongs to a marker, and is longer than an hour, its safety margin")
    if in_doubt not in ("park", "resend", "skip"):
        raise ValueError(f"kind {name}: in_doubt is park, resend or skip, not {in_doubt!r}")

    if on_failure not in ("block", "pass"):
        raise ValueError(f"kind {name}: on_failure is block or pass, not {on_failure!r}")

    def decorate(function: Callable[..., Any]) -> Kind[Any]:
        return Kind(
            name=name,
            function=function,
            payload=payload_type(function),
            takes_context=len(inspect.signature(function).parameters) > 1,
            is_async=inspect.iscoroutinefunction(function),
            queue=queue,
            priority=priority,
            max_attempts=max_attempts,
            timeout_seconds=timeout_seconds,
            needs_seconds=needs_seconds,
            backoff=backoffs.normal(backoff),
            marker=marker,
            in_doubt=in_doubt,
            window_seconds=window_seconds,
            secret=hidden,
            on_failure=on_failure,
            breaker=breaker,
        )

    return decorate


def _seconds(length: Delay) -> float:
    return length.total_seconds() if isinstance(length, timedelta) else float(length)
