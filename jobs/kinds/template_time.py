"""Rendering that ends: each turn of a loop looks at the time, also where nothing is written."""

import time
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from typing import Final

from jinja2.ext import Extension
from jinja2.lexer import Token, TokenStream

__all__ = ["UNTIL", "InTime", "TooSlow"]

UNTIL: Final[ContextVar[float]] = ContextVar("until")
"""When the rendering that runs has to end, by the monotonic clock."""
_NAME: Final = "crontick_in_time"
_CALL: Final = (
    ("variable_begin", "{{"),
    ("name", _NAME),
    ("lparen", "("),
    ("rparen", ")"),
    ("variable_end", "}}"),
)


class TooSlow(Exception):
    """The time for rendering is over."""


class InTime(Extension):
    """Puts a look at the time behind each ``{% for … %}``."""

    def filter_stream(self, stream: TokenStream) -> Iterable[Token]:
        """The tokens of a template with those looks among them."""
        self.environment.globals[_NAME] = _look
        return _with_looks(stream)


def _with_looks(stream: TokenStream) -> Iterator[Token]:
    before, loops = "", False
    for token in stream:
        yield token
        if before == "block_begin":
            loops = token.type == "name" and token.value == "for"
        before = token.type
        if token.type == "block_end" and loops:
            loops = False
            yield from (Token(token.lineno, kind, value) for kind, value in _CALL)


def _look() -> str:
    if time.monotonic() > UNTIL.get():
        raise TooSlow
    return ""
