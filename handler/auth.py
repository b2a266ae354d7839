"""Who may pass a door, judged by the headers alone: before a byte of the body is read or a database is asked (P30)."""

import hmac
from collections.abc import Sequence
from hashlib import sha256
from typing import Final
from urllib.parse import parse_qsl

from starlette.types import Scope

from crontick.handler.problem import TOKEN_IN_URL, UNAUTHORIZED, Problem

ADMIN_SECRET: Final = "CRONTICK_ADMIN_SECRET"  # noqa: S105 (the variable's name)
ENQUEUE_SECRET: Final = "CRONTICK_ENQUEUE_SECRET"  # noqa: S105 (the variable's name)
CRON_SECRET: Final = "CRON_SECRET"  # noqa: S105 (the variable's name)
CHALLENGE: Final = {"www-authenticate": "Bearer"}
URL_NAMES: Final = frozenset(
    {"token", "access_token", "secret", "cron_secret", "key", "api_key", "apikey", "auth", "authorization", "bearer"}
)
URL_BYTES: Final = 4096
UNSET_WORDS: Final = frozenset({b"undefined", b"null", b"none"})


def digests(secrets: Sequence[str]) -> tuple[bytes, ...]:
    """What to compare with: digests have one length, so a comparison tells nothing about the secret's."""
    return tuple(sha256(secret.encode()).digest() for secret in secrets)


def admit(scope: Scope, accepted: Sequence[bytes], secret: str = CRON_SECRET) -> str:
    """The fingerprint of the caller's token, the first 8 hex digits of its SHA-256; raises ``Problem`` (401).

    ``secret`` is the name of the variable that has the tokens which open this door.
    """
    _refuse_token_in_url(scope["query_string"], accepted)
    values = [value for name, value in scope["headers"] if name == b"authorization"]
    if len(values) != 1:
        found = "has no Authorization header" if not values else "has more than one Authorization header"
        raise _unauthorized(f"the request {found}: send `Authorization: Bearer <{secret}>` once")
    scheme, _, token = values[0].strip().partition(b" ")
    token = token.strip()
    if scheme.lower() != b"bearer" or not token:
        raise _unauthorized(f"the Authorization header is not `Bearer <{secret}>`: is the caller's copy set?")
    if token.lower() in UNSET_WORDS:
        raise _unauthorized(f"the caller sent the word {token.decode()!r}: its own copy of {secret} is not set")
    digest = sha256(token).digest()
    if not token.isascii() or not _known(digest, accepted):
        raise _unauthorized(f"the token is not one of this deployment's: compare the caller's {secret} with ours")
    return digest.hex()[:8]


def _known(digest: bytes, accepted: Sequence[bytes]) -> bool:
    # All are compared always: that one was found must not show in the time that it took.
    return sum(hmac.compare_digest(digest, known) for known in accepted) > 0


def _refuse_token_in_url(query: bytes, accepted: Sequence[bytes]) -> None:
    for name, value in parse_qsl(query[:URL_BYTES].decode("latin-1"), keep_blank_values=True):
        if name.lower() in URL_NAMES or _known(sha256(value.encode()).digest(), accepted):
            raise Problem(
                TOKEN_IN_URL,
                "a token in a URL is written to every log on its way and must be considered leaked: make a new one"
                " with `openssl rand -hex 32`, and send it as `Authorization: Bearer <token>`",
                CHALLENGE,
            )


def _unauthorized(detail: str) -> Problem:
    return Problem(UNAUTHORIZED, detail, CHALLENGE)
