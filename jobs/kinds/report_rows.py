"""Rows become the bytes of one part, a few at a time, so that neither many rows nor wide ones fill the memory."""

import csv
import io
import time
import zlib
from collections.abc import Sequence
from typing import Any, Final

import msgspec
import psycopg
from psycopg.types.string import TextLoader

from crontick.jobs.kinds.report_query import Asked

__all__ = ["KeyFault", "Part", "Shape", "read_part"]

PART_BYTES: Final = 4 * 2**20
"""A part ends after the row that reaches it, before it is compressed."""
_STEP_BYTES: Final = 256 * 2**10
_FIRST_STEP: Final = 1
_LARGEST_STEP: Final = 500
_KEY, _DOUBLED = -2, -1
_BOOLEAN: Final = 16
_NUMERIC: Final = frozenset({20, 21, 23, 26, 700, 701, 1700})
"""int8, int2, int4, oid, float4, float8, numeric: what they say begins with a sign, and is no formula."""
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n")
_BOOLEANS: Final = {"t": "true", "f": "false"}

Row = Sequence[str | None]


class KeyFault(ValueError):
    """The key is not what a part can end at; the message says which rows."""


class Part(msgspec.Struct, frozen=True):
    """``last_key`` is None for a part without rows."""

    content: bytes
    row_count: int
    last_key: str | None
    last: bool


class Shape(msgspec.Struct, frozen=True):
    """How rows are written; ``header`` for the first part."""

    as_json: bool
    gzip: bool
    header: bool


async def read_part(
    conn: psycopg.AsyncConnection[Any], asked: Asked, shape: Shape, *, row_limit: int, seconds: float
) -> Part:
    """Up to ``row_limit`` rows inside the open transaction; fewer when they are wide, or the query is slow.

    ``asked`` yields one row more than the limit. Raises ``KeyFault``.
    """
    until = time.monotonic() + seconds
    async with psycopg.AsyncRawServerCursor(conn, "report") as cursor:
        _as_texts(cursor)
        await cursor.execute(asked.text, asked.values)
        lines = _Lines(shape, cursor.description or [])
        step, last_key, last = _FIRST_STEP, None, False
        while not last:
            rows = await cursor.fetchmany(min(step, row_limit - lines.row_count))
            last = not rows
            _check_keys(rows)
            lines.add(rows)
            last_key = rows[-1][_KEY] if rows else last_key
            if lines.row_count >= row_limit or lines.size >= PART_BYTES or time.monotonic() > until:
                ahead = await cursor.fetchmany(1)
                last = not ahead
                _check_keys(ahead)
                break
            step = max(1, min(_LARGEST_STEP, _STEP_BYTES * lines.row_count // (lines.size or 1)))
    return Part(lines.end(), lines.row_count, last_key, last)


class _Lines:
    """The bytes of a part as it grows; a compressed part is a member of its own, which the next can follow."""

    def __init__(self, shape: Shape, columns: Sequence[psycopg.Column]) -> None:
        self._shape = shape
        self._content = bytearray()
        self._member = zlib.compressobj(wbits=31) if shape.gzip else None
        names = [column.name for column in columns[:_KEY]]
        self._safe = [column.type_code in _NUMERIC for column in columns[:_KEY]]
        self._booleans = [nth for nth, column in enumerate(columns[:_KEY]) if column.type_code == _BOOLEAN]
        self.row_count = 0
        self.size = 0
        if shape.header and not shape.as_json:
            self._write(_csv([[_neutral(name) for name in names]]))

    def add(self, rows: Sequence[Row]) -> None:
        """Write these rows."""
        self.row_count += len(rows)
        if self._shape.as_json:
            self._write("".join(f"{row[0]}\n" for row in rows))
        else:
            self._write(_csv([self._cells(row) for row in rows]))

    def end(self) -> bytes:
        """All of it."""
        if self._member is not None:
            self._content += self._member.flush()
        return bytes(self._content)

    def _cells(self, row: Row) -> list[str | None]:
        cells = [
            value if safe or value is None else _neutral(value)
            for value, safe in zip(row[:_KEY], self._safe, strict=True)
        ]
        for nth in self._booleans:
            cells[nth] = _BOOLEANS.get(cells[nth] or "")
        return cells

    def _write(self, text: str) -> None:
        content = text.encode()
        self.size += len(content)
        self._content += content if self._member is None else self._member.compress(content)


def _csv(rows: Sequence[Row]) -> str:
    """As RFC 4180 has it: CRLF, and quotes where a cell needs them; null is an empty cell."""
    buffer = io.StringIO(newline="")
    csv.writer(buffer, lineterminator="\r\n").writerows(rows)
    return buffer.getvalue()


def _neutral(cell: str) -> str:
    """A cell that no spreadsheet takes for a formula (P39)."""
    return f"'{cell}" if cell.startswith(_FORMULA) else cell


def _check_keys(rows: Sequence[Row]) -> None:
    for row in rows:
        if row[_DOUBLED] == "t":
            raise KeyFault(f"two rows have the key {row[_KEY]}, and a part that ends between them would lose one")


def _as_texts(cursor: "psycopg.AsyncRawServerCursor[Any]") -> None:
    """What PostgreSQL says, not what Python makes of it: a date before our era, a number of a thousand digits."""
    for known in cursor.adapters.types:
        for oid in filter(None, (known.oid, known.array_oid)):
            cursor.adapters.register_loader(oid, TextLoader)
