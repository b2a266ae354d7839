"""Mail addresses as they may stand in a header and in an envelope."""

import re
from typing import Final

import msgspec

__all__ = ["Address", "AddressError", "one_line", "parse"]

_ATOM: Final = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_LOCAL: Final = rf"{_ATOM}(?:\.{_ATOM})*"
_DOMAIN: Final = r"(?=.{1,253}\Z)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*"
_NAMED: Final = r'(?:"(?P<quoted>[^"\\]*)"\s*|(?P<plain>[^"<>,;:]*))<(?P<email>[^<>]*)>'
"""In which no blank can be read in two ways: a text of many would take hours."""
_LINE_ENDS: Final = r"[\x00-\x1f\x7f-\x9f\u2028\u2029]"
"""The categories Cc, Zl and Zp of Unicode, to which it adds nothing any more."""


class AddressError(ValueError):
    """Not an address that a mail can be sent to; the message does not quote it."""


class Address(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``email`` in ASCII, as it goes into the envelope; ``name`` as people read it."""

    email: str
    name: str = ""

    @property
    def domain(self) -> str:
        """What follows the @."""
        return self.email.rpartition("@")[2]


def parse(given: str | Address) -> Address:
    """One address, from ``a@b.example``, ``Name <a@b.example>`` or its two parts. Raises ``AddressError``.

    An international domain becomes its ASCII form; quoted local parts, address literals and local parts outside ASCII
    are refused, and so is a line end in any disguise.
    """
    if isinstance(given, str):
        named = re.fullmatch(_NAMED, given.strip())
        name = ((named["quoted"] or named["plain"] or "") if named else "").strip()
        given = Address(named["email"] if named else given, name)
    local, at, domain = given.email.strip(" ").rpartition("@")
    if not at or len(local) > 64 or not re.fullmatch(_LOCAL, local):
        raise AddressError("is no mail address: write one, as a@b.example or Name <a@b.example>")
    ascii_domain = _in_ascii(domain)
    if not re.fullmatch(_DOMAIN, ascii_domain):
        raise AddressError("is no mail address: its domain cannot be one")
    return Address(f"{local}@{ascii_domain}", one_line(given.name))


def one_line(text: str) -> str:
    """The text itself. Raises ``AddressError`` for a line end or control character, which could begin a header."""
    if re.search(_LINE_ENDS, text):
        raise AddressError("holds a line end or a control character: take it out")
    return text


def _in_ascii(domain: str) -> str:
    if domain.isascii():
        return domain.lower()
    import idna  # the encoding that Python brings turns ß into ss, which is somebody else's domain

    try:
        return idna.encode(domain, uts46=True).decode()
    except (idna.IDNAError, UnicodeError):
        return ""
