"""Who is logged in: a cookie that the admin secret signs (P38)."""

import base64
import hmac
import os
import time
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Final

import msgspec
from starlette.datastructures import Headers

from crontick.jobs.links import expand

COOKIE: Final = "__Secure-crontick"
LASTS_SECONDS: Final = 8 * 3600
_PURPOSE: Final = b"crontick dashboard sessions"
_LONGEST: Final = 1000


class Session(msgspec.Struct, frozen=True):
    """One browser; ``by`` is empty until somebody has logged in."""

    id: str
    by: str
    key: bytes

    def __repr__(self) -> str:
        return f"Session(by={self.by!r})"

    @property
    def token(self) -> str:
        """What each form of this session carries, and no other site can know."""
        return self.sign("form")

    def is_token(self, given: str) -> bool:
        """Whether that is its token."""
        return self.signed("form", given)

    def sign(self, text: str) -> str:
        """A signature that is good in this session alone."""
        return hmac.new(self.key, f"{self.id}\n{text}".encode(), "sha256").hexdigest()

    def signed(self, text: str, signature: str) -> bool:
        """Whether this session signed that text."""
        return hmac.compare_digest(self.sign(text).encode(), signature.encode())


class Sessions:
    """Gives cookies and reads them; nothing is kept, so every process of the deployment knows them.

    A cookie is signed by the very secret that was typed: with that secret out of ``CRONTICK_ADMIN_SECRET``, it is over.
    """

    def __init__(self, secrets: Sequence[str], *, clock: Callable[[], float] = time.time) -> None:
        self._digests = [sha256(secret.encode()).digest() for secret in secrets]
        self._keys = [expand(secret.encode(), _PURPOSE) for secret in secrets]
        self._clock = clock

    def visitor(self) -> tuple[Session, str]:
        """A session without a name, for the form that asks who is there; and its cookie."""
        return self._begin("", self._keys[0])

    def login(self, secret: str, by: str) -> str | None:
        """The cookie of a session of its own; None for a wrong secret."""
        given = sha256(secret.encode()).digest()
        # All are compared always: which one fits must not show in the time that it took.
        fitting = [hmac.compare_digest(given, known) for known in self._digests]
        if not any(fitting):
            return None
        return self._begin(by, self._keys[fitting.index(True)])[1]

    def read(self, headers: Headers) -> Session | None:
        """The session of a request; None where it has none, or one that is over or not ours."""
        for header in headers.getlist("cookie"):
            for part in header.split(";"):
                name, _, value = part.strip().partition("=")
                if name == COOKIE and (session := self._read(value)):
                    return session
        return None

    def _read(self, value: str) -> Session | None:
        said, _, signature = value.rpartition(".")
        parts = said.split(".")
        if len(value) > _LONGEST or len(parts) != 3 or not value.isascii():
            return None
        fitting = [hmac.compare_digest(_signature(key, said).encode(), signature.encode()) for key in self._keys]
        if not any(fitting) or int(parts[1]) <= self._clock():
            return None
        return Session(parts[0], base64.urlsafe_b64decode(parts[2]).decode(), self._keys[fitting.index(True)])

    def _begin(self, by: str, key: bytes) -> tuple[Session, str]:
        session = Session(os.urandom(16).hex(), by, key)
        until = int(self._clock()) + LASTS_SECONDS
        said = f"{session.id}.{until}.{base64.urlsafe_b64encode(by.encode()).decode()}"
        return session, _set_cookie(f"{said}.{_signature(key, said)}", LASTS_SECONDS)


def clear_cookie() -> str:
    """The header that makes a browser forget it."""
    return _set_cookie("", 0)


def _set_cookie(value: str, seconds: int) -> str:
    """The header. It names no path: the browser takes that of the login, wherever a proxy or an app has put us."""
    return f"{COOKIE}={value}; Max-Age={seconds}; Secure; HttpOnly; SameSite=Strict"


def _signature(key: bytes, said: str) -> str:
    return hmac.new(key, said.encode(), "sha256").hexdigest()
