"""What a form says, read with a limit on its size."""

from typing import Final
from urllib.parse import parse_qsl

from starlette.types import Receive, Scope

from crontick.handler.body import read_body
from crontick.handler.problem import UNREADABLE, Problem

__all__ = ["Form", "read_form", "read_pairs"]

BYTES_AT_MOST: Final = 256 * 1024
"""A payload of 64 KiB, of which each character may be written as three."""
_FIELDS_AT_MOST: Final = 1100


class Form:
    """Names and their values; of a name that came twice ``get`` has the last."""

    def __init__(self, pairs: list[tuple[str, str]]) -> None:
        self._pairs = pairs

    def get(self, name: str, default: str = "") -> str:
        """The value without the blanks around it."""
        return (self.given(name) or default).strip() or default

    def given(self, name: str) -> str | None:
        """The value as it came; None where none did."""
        return next((value for told, value in reversed(self._pairs) if told == name), None)

    def all(self, name: str) -> list[str]:
        """Every value of the name."""
        return [value for told, value in self._pairs if told == name]

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """All of it, in its order."""
        return list(self._pairs)


async def read_form(scope: Scope, receive: Receive) -> Form:
    """The form in the body. Raises ``Problem``, and ``HungUp``."""
    types = [value for name, value in scope["headers"] if name == b"content-type"]
    if [value.partition(b";")[0].strip().lower() for value in types] != [b"application/x-www-form-urlencoded"]:
        raise Problem(UNREADABLE, "this takes what a form sends: application/x-www-form-urlencoded")
    return read_pairs(await read_body(scope, receive, bytes_at_most=BYTES_AT_MOST))


def read_pairs(text: bytes) -> Form:
    """A query string or a body. Raises ``Problem``."""
    try:
        pairs = parse_qsl(text.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=_FIELDS_AT_MOST)
    except ValueError:
        raise Problem(UNREADABLE, "this is not what a form sends, or too many fields of it") from None
    if any("\0" in value for _, value in pairs):
        raise Problem(UNREADABLE, "there is a NUL in it, which PostgreSQL does not store")
    return Form([(name, value.replace("\r\n", "\n")) for name, value in pairs])
