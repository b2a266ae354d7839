"""Texts with ``{{name}}`` in them, which JSON never has by itself."""

import json
import re
from collections.abc import Mapping
from typing import Final

__all__ = ["FILLED", "filled", "placeholders"]

FILLED: Final = ("name", "wake_at", "wake_at_seconds")
"""What each alarm has: its name, its moment as RFC 3339 and as seconds since 1970."""
_PLACEHOLDER: Final = re.compile(r"\{\{ *(\w+) *\}\}")


def placeholders(text: str) -> list[str]:
    """The names in a text."""
    return _PLACEHOLDER.findall(text)


def filled(text: str, values: Mapping[str, str], *, in_json: bool = False) -> str:
    """The text with its names filled in; ``in_json``, inside strings, where a quote must not end one."""

    def value(match: re.Match[str]) -> str:
        said = values[match[1]]
        return json.dumps(said)[1:-1] if in_json else said

    return _PLACEHOLDER.sub(value, text)
