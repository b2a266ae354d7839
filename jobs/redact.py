"""Secrets taken out of texts, by value."""

import base64
import json
import logging
from collections.abc import Iterable, Iterator
from typing import Final
from urllib.parse import quote, quote_plus, unquote, urlsplit

__all__ = ["Redactor"]

REDACTED: Final = "[redacted]"
_SHORTEST: Final = 6
"""A shorter value would be found in half of all words, and what it hides would be told by the holes it leaves."""


class Redactor:
    """Replaces every configured secret by ``[redacted]``, also URL-encoded, in base64 or escaped for JSON.

    A secret that is a URL counts as one, and so does the password in it. As a ``logging`` filter it cleans a record:
    message, arguments and traceback.
    """

    __slots__ = ("_forms",)

    def __init__(self, secrets: Iterable[str]) -> None:
        self._forms: tuple[str, ...] = ()
        self.learn(secrets)

    def learn(self, secrets: Iterable[str]) -> None:
        """Take out these, too, from now on; those of before stay secret."""
        new = [secret for secret in secrets if secret not in self._forms]
        forms = {form for secret in new for value in _values(secret) for form in _forms(value)}
        if not forms <= set(self._forms):
            # The longest first: of a URL with its password no other part stays.
            self._forms = tuple(sorted(forms.union(self._forms), key=lambda form: (-len(form), form)))

    def __call__(self, text: str) -> str:
        """The text without any of the secrets."""
        for form in self._forms:
            if form in text:
                text = text.replace(form, REDACTED)
        return text

    def filter(self, record: logging.LogRecord) -> bool:
        """Clean the record in place; always true. Give the redactor itself to ``Handler.addFilter``."""
        try:
            message = record.getMessage()
        except Exception:  # noqa: BLE001 (an argument's __str__ may raise anything; without arguments none can leak)
            message = str(record.msg)
        record.msg, record.args = self(message), None
        if record.exc_info and record.exc_info[0]:
            record.exc_text = self(logging.Formatter().formatException(record.exc_info))
            record.exc_info = None
        elif record.exc_text:
            record.exc_text = self(record.exc_text)
        return True


def _values(secret: str) -> Iterator[str]:
    yield secret
    yield secret.removeprefix("whsec_")
    if "://" not in secret:
        return
    try:
        parts = urlsplit(secret)
        found = parts.password
    except ValueError:
        return
    if found:
        yield found
        yield unquote(found)


def _forms(value: str) -> Iterator[str]:
    if len(value) < _SHORTEST:
        return
    yield value
    yield quote(value, safe="")
    yield quote(value)
    yield quote_plus(value)
    yield json.dumps(value)[1:-1]
    yield json.dumps(value, ensure_ascii=False)[1:-1]
    yield repr(value)[1:-1]
    yield repr(value.encode("utf-8", "replace"))[2:-1]
    yield from _in_base64(value.encode("utf-8", "replace"))


def _in_base64(raw: bytes) -> Iterator[str]:
    """As it stands in the base64 of a longer text (``user:password``), without what neighbours have a part in."""
    for before, foreign in ((0, 0), (1, 2), (2, 3)):
        whole = (before + len(raw)) * 8 // 6
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            yield encode(bytes(before) + raw)[foreign:whole].decode()
