"""Texts sealed for rest: AES-GCM under one of several keys, each text bound to what it is about (P37)."""

import base64
import hashlib
import json
import os
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import msgspec

from crontick.jobs.secrets import read_secret, tokens

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

__all__ = ["KEYS", "KeyMissing", "Keyring", "SealingError", "key_of", "keyring_of", "read_keyring"]

KEYS: Final = "CRONTICK_ENCRYPTION_KEYS"
MAKE_ONE: Final = "make one with `openssl rand -base64 32`"
KEY_ID: Final = r"[a-z0-9][a-z0-9_-]{0,31}"
_KEY_BYTES: Final = 32
_STANDARD: Final = str.maketrans("-_", "+/")
_NONCE_BYTES: Final = 12
"""96 random bits: the longest that GCM takes as they are. One key may seal 2^32 texts (NIST SP 800-38D, 8.3)."""
_GIVEN: Final = re.compile(rf"({KEY_ID}):(.*)")
_SEALED: Final = re.compile(rf"({KEY_ID}):([A-Za-z0-9+/]{{38,}}={{0,2}})")
"""At least a nonce and a tag, so that a URL is not taken for one."""


class SealingError(ValueError):
    """Something cannot be sealed or opened; the message says what and why, and quotes neither key nor text."""


class KeyMissing(SealingError):
    """A text is sealed with a key that this deployment does not have."""

    def __init__(self, key: str) -> None:
        super().__init__(f"it is sealed with the key {key}, which this deployment lacks: add it to {KEYS}")
        self.key = key


class Keyring(msgspec.Struct, frozen=True):
    """The keys of a deployment by their ids; the first seals, all of them open. Never part of a ``repr``."""

    keys: Mapping[str, bytes]

    def __repr__(self) -> str:
        return f"Keyring({', '.join(self.keys)})"

    @property
    def first(self) -> str:
        """The id of the key that seals."""
        return next(iter(self.keys))

    def seal(self, text: str, *about: str) -> str:
        """The text under the first key, such that it opens only for the same ``about``: ``ID:base64``."""
        nonce = os.urandom(_NONCE_BYTES)
        sealed = _cipher(self.keys[self.first]).encrypt(nonce, text.encode(), _bound_to(about))
        return f"{self.first}:{base64.b64encode(nonce + sealed).decode()}"

    def open(self, sealed: str, *about: str) -> str:
        """The text. Raises ``KeyMissing``, and ``SealingError`` for what was changed or is about something else."""
        key = key_of(sealed)
        if key is None:
            raise SealingError("it is not sealed, and claims to be")
        if key not in self.keys:
            raise KeyMissing(key)
        from cryptography.exceptions import InvalidTag

        try:
            raw = base64.b64decode(sealed.partition(":")[2], validate=True)
            return _cipher(self.keys[key]).decrypt(raw[:_NONCE_BYTES], raw[_NONCE_BYTES:], _bound_to(about)).decode()
        except (InvalidTag, ValueError):
            raise SealingError(f"it does not open: changed, or sealed as something else (key {key})") from None


def key_of(sealed: object) -> str | None:
    """The id of the key that a text is sealed with; None for what is no sealed text."""
    found = _SEALED.fullmatch(sealed) if isinstance(sealed, str) else None
    return found[1] if found else None


def read_keyring(value: str, *, name: str = KEYS) -> Keyring:
    """Keys separated by commas, each ``ID:BASE64`` or ``BASE64``, whose id is then the begin of its SHA-256.

    Raises ``SealingError`` with a sentence for the first that is wrong; none quotes a key.
    """
    keys: dict[str, bytes] = {}
    given = tokens(value)
    for nth, token in enumerate(given, start=1):
        which = name if len(given) == 1 else f"{name}, key {nth} of {len(given)},"
        told = _GIVEN.fullmatch(token)
        if told is None and ":" in token:
            raise SealingError(f"{which} has an id that is no name: lower-case letters, digits, _ and -, 32 at most")
        raw = _raw(told[2] if told else token, which)
        key = told[1] if told else hashlib.sha256(raw).hexdigest()[:8]
        if key in keys:
            raise SealingError(f"{which} has the id {key}, as another has: give each its own")
        keys[key] = raw
    if not keys:
        raise SealingError(f"{name} has no key in it: {MAKE_ONE}")
    return Keyring(keys)


def keyring_of(environ: Mapping[str, str]) -> Keyring | None:
    """The keys that an environment names, also by ``…_FROM``; None where it names none. Raises ``SealingError``."""
    return _keyring(environ.get(KEYS, ""), environ.get(f"{KEYS}_FROM", ""))


@lru_cache(maxsize=8)
def _keyring(given: str, source: str) -> Keyring | None:
    """Once for each value: an enqueue reads no file."""
    try:
        value = read_secret({KEYS: given, f"{KEYS}_FROM": source}, KEYS)
    except ValueError as error:
        raise SealingError(str(error)) from None
    return read_keyring(value) if value else None


def _raw(text: str, which: str) -> bytes:
    """Also without its padding, and in the alphabet for URLs."""
    text = text.translate(_STANDARD).rstrip("=")
    try:
        raw = base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except ValueError:
        raise SealingError(f"{which} is no base64: {MAKE_ONE}") from None
    if len(raw) != _KEY_BYTES:
        raise SealingError(f"{which} has {len(raw)} bytes, and a key has {_KEY_BYTES}: {MAKE_ONE}")
    return raw


def _bound_to(about: tuple[str, ...]) -> bytes:
    """As JSON, so that no two lists of words are the same bytes."""
    return json.dumps(about).encode()


def _cipher(key: bytes) -> "AESGCM":
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    except ImportError:
        from crontick.sql.extras import install

        raise SealingError(f"secret fields need cryptography: {install('encryption')}") from None
    return AESGCM(key)
