"""Everything that talks SQL: migrations, functions, named queries, and the wire that carries them."""

import re
from functools import cache
from pathlib import Path
from typing import Final

import msgspec

__all__ = ["OLDEST_CODE", "SCHEMA", "VERSION", "Query", "query"]

VERSION: Final = "0.1.0"
"""The distribution's version; told here, because asking its metadata costs a cold tick milliseconds."""

SCHEMA = 21
"""The number of the newest migration: what this code needs to find."""
OLDEST_CODE = 3
"""The oldest code, by its own SCHEMA, that the newest migration still serves (P14)."""

_QUERIES: Final = Path(__file__).parent / "queries"
# A plain path, not importlib.resources: that would be among the costliest imports of a cold tick.
_PARAMETER: Final = re.compile(r"%\((\w+)\)s")


class Query(msgspec.Struct, frozen=True):
    """A statement by name: ``text`` for psycopg, ``wire`` and the ``names`` of its numbered parameters for libpq."""

    name: str
    text: str
    wire: bytes
    names: tuple[str, ...]


@cache
def query(name: str) -> Query:
    """The statement in ``queries/<name>.sql``."""
    text = (_QUERIES / f"{name}.sql").read_text("utf-8")
    names: list[str] = []

    def numbered(match: re.Match[str]) -> str:
        if match[1] not in names:
            names.append(match[1])
        return f"${names.index(match[1]) + 1}"

    wire = _PARAMETER.sub(numbered, text).replace("%%", "%")
    return Query(name, text, wire.encode(), tuple(names))
