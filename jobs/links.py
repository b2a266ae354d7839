"""Links that open a report's file, or how far its run is, to whoever has one, until it expires (P39)."""

import hmac
import re
import time
from collections.abc import Sequence
from datetime import timedelta
from typing import Final
from urllib.parse import parse_qsl, urlencode

from crontick.jobs.kinds.signature import signing_key
from crontick.jobs.settings import Settings

__all__ = ["FILE_PATH", "LONGEST", "PROGRESS_PATH", "LinkError", "check_link", "expand", "make_link"]

LONGEST: Final = timedelta(days=7)
FILE_PATH: Final = "/api/reports/{run}/download"
PROGRESS_PATH: Final = "/api/reports/{run}"
_CLOCKS_APART_SECONDS: Final = 300
_PURPOSE: Final = b"crontick report links"
_EXPIRES: Final = re.compile(r"[0-9]{1,12}")


class LinkError(ValueError):
    """The link cannot be made, or does not open what was asked for; the message says why."""


def make_link(settings: Settings, run: int, *, lasts: timedelta = LONGEST, to: str = FILE_PATH) -> str:
    """A URL of the run's file, or of its progress, whether or not the file is finished. Raises ``LinkError``."""
    if settings.public_url is None:
        raise LinkError("CRONTICK_PUBLIC_URL is not set: links begin with it, such as https://app.example")
    if not settings.signing_secrets:
        raise LinkError("CRONTICK_SIGNING_SECRET is not set: make one with `crontick webhook secret`")
    if not timedelta(0) < lasts <= LONGEST:
        raise LinkError("a link lasts longer than nothing and 7 days at most")
    expires = int(time.time() + lasts.total_seconds())
    path = to.format(run=run)
    signed = _signature(settings.signing_secrets[0], path, expires)
    return f"{settings.public_url}{path}?{urlencode({'expires': expires, 'signature': signed})}"


def check_link(secrets: Sequence[str], path: str, query: str) -> None:
    """Returns when that query string was signed for that path and has not expired. Raises ``LinkError``."""
    given = parse_qsl(query, keep_blank_values=True, max_num_fields=10)
    told = dict(given)
    if len(given) != 2 or told.keys() != {"expires", "signature"} or not _EXPIRES.fullmatch(told["expires"]):
        raise LinkError("the link is not whole: copy all of it")
    expires, signature = int(told["expires"]), told["signature"].encode("utf-8", "replace")
    # All are compared always: which one fits must not show in the time that it took.
    fitting = [hmac.compare_digest(_signature(secret, path, expires).encode(), signature) for secret in secrets]
    if not any(fitting):
        raise LinkError("the link was not signed for this by this deployment")
    left = expires - time.time()
    if left <= 0:
        raise LinkError("the link has expired: ask for another")
    if left > LONGEST.total_seconds() + _CLOCKS_APART_SECONDS:
        raise LinkError("the link lasts longer than links do")


def expand(key: bytes, purpose: bytes, *, salt: bytes = b"") -> bytes:
    """32 bytes for one purpose alone, from a key that has others: HKDF with SHA-256 (RFC 5869)."""
    extracted = hmac.digest(salt or bytes(32), key, "sha256")
    return hmac.digest(extracted, purpose + b"\x01", "sha256")


def _signature(secret: str, path: str, expires: int) -> str:
    signed = f"GET\n{path}\n{expires}".encode()
    return hmac.new(expand(signing_key(secret), _PURPOSE), signed, "sha256").hexdigest()
