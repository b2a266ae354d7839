"""A payload's secret fields: sealed before they rest in a table, opened where their function runs, shown to nobody."""

import base64
import json
import os
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

import msgspec

from crontick.jobs.sealing import KEYS, MAKE_ONE, KeyMissing, Keyring, SealingError, key_of, keyring_of

__all__ = [
    "HIDDEN",
    "open_fields",
    "reseal_fields",
    "seal_edited",
    "seal_fields",
    "seal_for_rest",
    "secret_values",
    "shown",
]

SEALED: Final = "$sealed"
"""The payload's own field that names the sealed ones, and the random id to which they are bound (P37)."""
HIDDEN: Final = "•••"
_ID_BYTES: Final = 12
_SHORTEST_TOLD: Final = 6
_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*"')
_DECODER: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
"""Values stay as they are written: JSON has numbers that Python cannot hold."""


class _Header(msgspec.Struct):
    id: str
    fields: list[str]


class _Payload(msgspec.Struct):
    """An object's fields as they stand in the text, and what it says of those that are sealed."""

    parts: dict[str, msgspec.Raw]
    header: _Header | None

    def clear(self, fields: Collection[str]) -> list[str]:
        """Those of the fields that it holds in clear."""
        sealed = self.header.fields if self.header else ()
        return [field for field in fields if field in self.parts and field not in sealed]

    def open(self, field: str, kind: str, keyring: Keyring | None) -> str:
        """The JSON of a sealed field."""
        assert self.header is not None  # whoever asks has the field's name from it
        sealed = _text(self.parts.get(field))
        key = key_of(sealed)
        if keyring is None and key is not None:
            raise KeyMissing(key)
        try:
            return (keyring or _NO_KEYS).open(sealed or "", kind, field, self.header.id)
        except KeyMissing:
            raise
        except SealingError as error:
            raise SealingError(f"the secret field {field}: {error}") from None

    def text(self) -> str:
        """As JSON again."""
        parts: Mapping[str, Any] = self.parts
        return msgspec.json.encode({**parts, SEALED: self.header} if self.header else parts).decode()


_NO_KEYS: Final = Keyring({})


def seal_fields(payload: str, kind: str, fields: Collection[str], keyring: Keyring) -> str:
    """The payload with these fields sealed; the very text where it holds none of them in clear."""
    read = _read(payload)
    if read is None or not (clear := read.clear(fields)):
        return payload
    return _sealed(read, kind, {field: bytes(read.parts[field]).decode() for field in clear}, keyring)


def reseal_fields(payload: str, kind: str, fields: Collection[str], keyring: Keyring) -> str:
    """The payload with all that is secret under the first key; the very text where it is so already.

    Raises ``KeyMissing`` for a field whose key is not here, and ``SealingError`` for one that does not open.
    """
    read = _read(payload)
    if read is None:
        return payload
    told = {field: bytes(read.parts[field]).decode() for field in read.clear(fields)}
    for field in read.header.fields if read.header else ():
        if key_of(_text(read.parts.get(field))) != keyring.first:
            told[field] = read.open(field, kind, keyring)
    return _sealed(read, kind, told, keyring) if told else payload


def open_fields(payload: str, kind: str, keyring: Keyring | None) -> tuple[str, frozenset[str]]:
    """The payload in clear, and which of its fields were sealed. Raises as ``reseal_fields`` does."""
    read = _read(payload)
    if read is None or read.header is None:
        return payload, frozenset()
    fields = read.header.fields
    for field in fields:
        read.parts[field] = msgspec.Raw(read.open(field, kind, keyring).encode())
    read.header = None
    return read.text(), frozenset(fields)


def seal_for_rest(payload: str, kind: str, fields: Collection[str], *told: str | None) -> str:
    """The payload with these fields sealed by the keys of this process's environment.

    ``told`` are texts that are kept in clear, such as a unique key. Raises ``SealingError`` when a secret would lie
    in one of them, and when there is no key.
    """
    read = _read(payload)
    if read is None or not read.clear(fields):
        return payload
    for value in secret_values(payload, fields):
        if len(value) >= _SHORTEST_TOLD and any(value in text for text in told if text):
            raise SealingError(
                f"{kind}: a unique or group key holds a secret field, and keys are kept in clear: hash it"
            )
    keyring = keyring_of(os.environ)
    if keyring is None:
        raise SealingError(f"{kind} has secret fields ({', '.join(sorted(fields))}), and {KEYS} is not set: {MAKE_ONE}")
    return seal_fields(payload, kind, fields, keyring)


def seal_edited(edited: str, before: str, kind: str, fields: Collection[str]) -> str:
    """An edited payload, sealed; what it still hides is as it was before. Raises as ``seal_for_rest`` does."""
    now, old = _read(edited), _read(before)
    if now is None or old is None:
        return seal_for_rest(edited, kind, fields)
    secret = {*fields, *(old.header.fields if old.header else ())}
    for field in secret & now.parts.keys() & old.parts.keys():
        if _text(now.parts[field]) == HIDDEN:
            sealed = old.header is not None and field in old.header.fields
            text = old.open(field, kind, keyring_of(os.environ)) if sealed else bytes(old.parts[field]).decode()
            now.parts[field] = msgspec.Raw(text.encode())
    return seal_for_rest(now.text(), kind, secret)


def shown(payload: str, fields: Collection[str] = ()) -> str:
    """The payload for people's eyes: what is sealed, and these fields, hidden."""
    read = _read(payload)
    if read is None:
        return payload
    hide = {*fields, *(read.header.fields if read.header else ())} & read.parts.keys()
    if not hide and read.header is None:
        return payload
    read.parts |= dict.fromkeys(hide, msgspec.Raw(f'"{HIDDEN}"'.encode()))
    read.header = None
    return read.text()


def secret_values(payload: str, fields: Collection[str]) -> list[str]:
    """Every text and number in these fields of a payload in clear; the whole payload if it cannot be read."""
    try:
        read = msgspec.json.decode(payload)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return [payload]
    if not isinstance(read, dict):
        return []
    return [value for field in fields if field in read for value in _leaves(read[field])]


def _leaves(value: Any) -> Iterator[str]:
    match value:
        case dict():
            for part in value.values():
                yield from _leaves(part)
        case list():
            for part in value:
                yield from _leaves(part)
        case str():
            yield value
        case bool() | None:
            return
        case _:
            yield str(value)


def _sealed(read: _Payload, kind: str, clear: Mapping[str, str], keyring: Keyring) -> str:
    header = read.header or _Header(base64.urlsafe_b64encode(os.urandom(_ID_BYTES)).decode(), [])
    for field, text in clear.items():
        read.parts[field] = msgspec.Raw(msgspec.json.encode(keyring.seal(_in_utf8(text), kind, field, header.id)))
    read.header = _Header(header.id, sorted({*header.fields, *clear}))
    return read.text()


def _in_utf8(text: str) -> str:
    """Characters as they are, for an escaped one is sealed at three times its size, and base64 adds a third."""
    return _STRING.sub(_unescaped, text) if "\\u" in text else text


def _unescaped(string: re.Match[str]) -> str:
    return json.dumps(json.loads(string[0], strict=False), ensure_ascii=False)


def _read(payload: str) -> _Payload | None:
    """None for what is no object, or is nested too deeply; what is no header counts as none."""
    try:
        parts = _DECODER.decode(payload)
        header = parts.pop(SEALED, None)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    try:
        return _Payload(parts, None if header is None else msgspec.json.decode(header, type=_Header))
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return _Payload(parts, None)


def _text(raw: msgspec.Raw | None) -> str | None:
    try:
        return None if raw is None else msgspec.json.decode(raw, type=str)
    except (msgspec.MsgspecError, ValueError):
        return None
