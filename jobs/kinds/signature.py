"""Standard Webhooks signatures, over the very bytes that are sent."""

import base64
import binascii
import hmac
import re
import secrets as randomness
from collections.abc import Iterable, Sequence
from typing import Final

__all__ = ["SecretError", "fault", "new_secret", "signature", "signing_key"]

TOLERANCE_SECONDS: Final = 300
"""How far the timestamp may be from now, either way: an older delivery may be somebody's replay."""
_BYTES: Final = range(24, 65)
_MEND: Final = "make one with `crontick webhook secret`"
_TIMESTAMP: Final = re.compile(r"[0-9]{1,15}")


class SecretError(ValueError):
    """A signing secret that cannot be one; the message does not quote it."""


def new_secret() -> str:
    """A fresh ``whsec_…`` of 32 random bytes."""
    return "whsec_" + base64.b64encode(randomness.token_bytes(32)).decode()


def signing_key(secret: str) -> bytes:
    """The key in ``whsec_…``: base64 of 24 to 64 bytes, with or without prefix and padding. Raises ``SecretError``."""
    text = secret.strip().removeprefix("whsec_").rstrip("=")
    try:
        key = base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise SecretError(f"is not base64: {_MEND}") from None
    if len(key) not in _BYTES:
        raise SecretError(f"has {len(key)} bytes, a signing secret has 24 to 64: {_MEND}")
    return key


def signature(secrets: Iterable[str], webhook_id: str, timestamp: int, body: bytes) -> str:
    """The header ``webhook-signature``: one for each secret, the current one first. Raises ``SecretError``."""
    signed = f"{webhook_id}.{timestamp}.".encode() + body
    return " ".join(
        "v1," + base64.b64encode(hmac.digest(signing_key(secret), signed, "sha256")).decode() for secret in secrets
    )


def fault(secrets: Sequence[str], headers: tuple[str, str, str], body: bytes, *, now: float) -> str | None:
    """Why a delivery is not to be believed; None for one that is. Raises ``SecretError``.

    ``headers`` are ``webhook-id``, ``webhook-timestamp`` and ``webhook-signature`` as they came, ``body`` the very
    bytes; one good signature of several is enough. ``now`` is Unix time.
    """
    webhook_id, timestamp, signatures = headers
    if "." in webhook_id:
        return "its id holds a dot: id and timestamp can be read in two ways"
    if not _TIMESTAMP.fullmatch(timestamp):
        return "its timestamp is no number of seconds since 1970"
    if abs(int(timestamp) - now) > TOLERANCE_SECONDS:
        return f"its timestamp is more than {TOLERANCE_SECONDS} s from now: perhaps a replay, perhaps a wrong clock"
    good = [one.encode() for one in signature(secrets, webhook_id, int(timestamp), body).split(" ")]
    given = [one.encode("utf-8", "replace") for one in signatures.split(" ")]
    if not any(hmac.compare_digest(ours, theirs) for ours in good for theirs in given):
        return "no signature in it is that of these bytes, this id and timestamp under this secret"
    return None
