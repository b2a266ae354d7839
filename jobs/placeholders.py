"""The parts of an SQL text that are code, in which a placeholder means something."""

import re
from collections.abc import Callable
from typing import Final

__all__ = ["outside_literals"]

_LITERAL: Final = re.compile(r"('(?:[^']|'')*'|\"[^\"]*\"|--[^\n]*|/\*.*?\*/|\$(\w*)\$.*?\$\2\$)", re.DOTALL)


def outside_literals(text: str, change: Callable[[str], str]) -> str:
    """A statement with its parts changed that are code: literals, quoted names and comments are left as they are."""
    parts, end = [], 0
    for literal in _LITERAL.finditer(text):
        parts += [change(text[end : literal.start()]), literal[0]]
        end = literal.end()
    return "".join([*parts, change(text[end:])])
