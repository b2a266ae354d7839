"""One mail over Resend's API, whose idempotency key lets a send in doubt be repeated."""

import asyncio
import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.header import Header
from typing import Any, Final

import msgspec

from crontick.jobs.kinds.addresses import Address
from crontick.jobs.kinds.held import BUSY_SECONDS, WAITING_SHARE, Held
from crontick.jobs.kinds.message import Content
from crontick.jobs.kinds.settings import HttpSettings
from crontick.jobs.outbound import Answer, Unanswered, client, retry_after_seconds, send
from crontick.jobs.signals import Permanent, Retry

__all__ = ["KeyUsed", "Request", "Resend", "body"]

QUOTA_SECONDS: Final = 3600.0
_SPACING_SECONDS: Final = 0.5
"""Between two sends once it said that they come too fast, unless it says otherwise: two a second is its least limit."""
_LATER: Final = frozenset({408, 425, 429})
_OURS: Final = frozenset({401, 403, 404, 405})
"""The key, its rights, the sender's domain or ``base_url``: the recipient has nothing to do with it."""


class KeyUsed(Exception):
    """Another mail had this idempotency key before: whether that one is the one that was meant, nobody knows."""

    nothing_sent = False


@dataclass(slots=True)
class Request:
    """The body and its idempotency key; ``begun`` from when it may have arrived."""

    content: bytes
    key: str
    begun: bool = False


class Resend:
    """Made once a tick: one client, one pace for all mails."""

    def __init__(self) -> None:
        self._http = client(HttpSettings(), operator=True)
        self._turn = asyncio.Lock()
        self._not_before = 0.0
        self._spacing = 0.0
        self._proven = False
        self._unfit: Retry | None = None
        self._held_seconds: float | None = None

    async def deliver(self, base_url: str, api_key: str, request: Request, *, seconds: float) -> str | None:
        """Hand the mail in within ``seconds``; the id that Resend gave it. A limit of sends a second is waited for.

        Raises ``Held``, ``Permanent``, ``Retry``, ``KeyUsed``, ``NotConnected`` or ``Unanswered``.
        """
        loop = asyncio.get_running_loop()
        until, called = loop.time() + seconds, False
        headers = {
            "authorization": f"Bearer {api_key}",
            "content-type": "application/json",
            "idempotency-key": request.key,
        }
        url = f"{base_url.rstrip('/')}/emails"
        while True:
            alone = await self._taken_turn(loop.time() + (until - loop.time()) * WAITING_SHARE, called=called)
            try:
                request.begun = True
                left = max(until - loop.time(), 0.01)
                answer = await send(self._http, url, content=request.content, headers=headers, seconds=left)
            finally:
                if alone:
                    self._turn.release()
            called = True
            wait = self._learnt(answer)
            if answer.status == 429 and _name(answer) == "rate_limit_exceeded" and wait < (until - loop.time()) / 2:
                continue
            return self._judged(answer, wait)

    async def aclose(self) -> None:
        """Close the client."""
        await self._http.aclose()

    async def _taken_turn(self, latest: float, *, called: bool) -> bool:
        """Whether this mail goes alone, and the next one's turn is given by its end: until one was taken, all do."""
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout_at(latest):
                await self._turn.acquire()
                try:
                    self._check()
                    if (pause := self._not_before - loop.time()) > 0:
                        await asyncio.sleep(pause)
                except BaseException:
                    self._turn.release()
                    raise
        except TimeoutError:
            if called:
                raise Retry("429 from Resend: it takes no more now", after=BUSY_SECONDS, status_code=429) from None
            raise Held(BUSY_SECONDS) from None
        self._not_before = max(self._not_before, loop.time() + self._spacing)
        if self._proven:
            self._turn.release()
        return not self._proven

    def _check(self) -> None:
        if self._unfit is not None:
            raise Retry(self._unfit.reason, status_code=self._unfit.status_code)
        if self._held_seconds is not None:
            raise Held(self._held_seconds)

    def _learnt(self, answer: Answer) -> float:
        """The pace that it asks for; the seconds until it takes the next mail."""
        loop = asyncio.get_running_loop()
        after = retry_after_seconds(answer.headers, datetime.now(UTC))
        limit, remaining, reset = (_number(answer.headers, f"ratelimit-{name}") for name in _PACE)
        if answer.status == 429 or remaining == 0:
            wait = after if after is not None else reset if reset is not None else 1.0
            self._spacing = wait / limit if limit and wait <= 1 else _SPACING_SECONDS
            if wait < QUOTA_SECONDS:
                self._not_before = max(self._not_before, loop.time() + wait)
            return wait
        return after or 0.0

    def _judged(self, answer: Answer, wait: float) -> str | None:
        status, name = answer.status, _name(answer)
        said = f"{status} from Resend" + (f" ({name})" if name else "")
        if 200 <= status < 300:
            self._proven = True
            found = _read(answer).get("id")
            return found if isinstance(found, str) else None
        if status == 409 and name == "concurrent_idempotent_requests":
            raise Unanswered(f"{said}: this mail is being handed in already")
        if status == 409:
            raise KeyUsed(f"{said}: another mail had this key before")
        if status == 429 and name != "rate_limit_exceeded":
            self._held_seconds = max(wait, QUOTA_SECONDS)
            raise Retry(said, after=self._held_seconds, status_code=status)
        if status in _OURS or 300 <= status < 400:
            self._unfit = Retry(f"{said}: see api_key_env, from and base_url in [email]", status_code=status)
            raise self._unfit
        if status in _LATER or status >= 500:
            raise Retry(said, after=wait or None, status_code=status)
        raise Permanent(said, status_code=status)


_PACE: Final = ("limit", "remaining", "reset")


def body(
    content: Content, sender: Address, recipients: Mapping[str, Sequence[Address]], headers: Mapping[str, str]
) -> bytes:
    """The request: always the same bytes for the same mail. ``recipients`` by Resend's names: to, cc, bcc, reply_to."""
    told: dict[str, Any] = {"from": _written(sender), "subject": content.subject}
    told |= {field: list(map(_written, addresses)) for field, addresses in recipients.items() if addresses}
    told |= {"text": content.text} if content.text is not None else {}
    told |= {"html": content.html} if content.html is not None else {}
    if content.attachments:
        told["attachments"] = [
            {"filename": one.name, "content_type": one.content_type, "content": b64encode(one.data).decode()}
            for one in content.attachments
        ]
    told |= {"headers": dict(headers)} if headers else {}
    return json.dumps(told, ensure_ascii=False, sort_keys=True).encode("utf-8", "replace")


def _written(address: Address) -> str:
    if not address.name:
        return address.email
    if "=?" in address.name:  # else a reader takes it for encoded
        return f"{Header(address.name, 'utf-8').encode(linesep='')} <{address.email}>"
    name = address.name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{name}" <{address.email}>'


def _read(answer: Answer) -> dict[str, Any]:
    try:
        found = msgspec.json.decode(answer.body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _name(answer: Answer) -> str:
    """Resend's word for an error, if it is one: nothing else that it says is told."""
    found = _read(answer).get("name")
    return found if isinstance(found, str) and found.isascii() and found.isidentifier() and len(found) < 64 else ""


def _number(headers: Mapping[str, str], name: str) -> float | None:
    value = headers.get(name, "")
    return float(value) if value.isascii() and value.isdigit() and len(value) < 9 else None
