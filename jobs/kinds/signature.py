"""Standard Webhooks signatures, over the very bytes that are sent."""

import base64
import binascii
import hmac
from collections.abc import Iterable
from typing import Final

__all__ = ["SecretError", "signature", "signing_key"]

_BYTES: Final = range(24, 65)
_MEND: Final = "make one with `echo whsec_$(openssl rand -base64 32)`"


class SecretError(ValueError):
    """A signing secret that cannot be one; the message does not quote it."""


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
