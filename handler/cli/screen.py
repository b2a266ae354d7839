"""What a command shows: tables on a terminal, plain lines in a pipe, JSON when asked; control characters never."""

import json
import sys
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from crontick.handler.lengths import lasting

Row = Mapping[str, Any]

# Cc: control; Cf: invisible, some of which turn the direction of what follows; Cs: half a character.
_STRIPPED = frozenset({"Cc", "Cf", "Cs"})


def clean(text: str) -> str:
    """One line, without anything that could move a cursor, colour a terminal or hide a character (P43)."""
    return "".join(
        " " if character in "\n\t" else character
        for character in text
        if character in "\n\t" or unicodedata.category(character) not in _STRIPPED
    )


def say(sentence: str) -> None:
    """A line of the answer."""
    sys.stdout.write(clean(sentence) + "\n")


def complain(sentence: str) -> None:
    """A line beside the answer, so that a pipe does not take it for one."""
    sys.stderr.write(clean(sentence) + "\n")


def table(rows: Sequence[Row], columns: Sequence[str], *, as_json: bool, nothing: str) -> None:
    """The rows with these columns; ``nothing`` is what a person reads when there are none."""
    if as_json:
        say_json([{column: row[column] for column in columns} for row in rows])
    elif not rows:
        complain(nothing)
    elif sys.stdout.isatty():
        _draw(rows, columns)
    else:
        for line in [columns, *([cell(row[column]) for column in columns] for row in rows)]:
            sys.stdout.write("\t".join(line) + "\n")


def record(fields: Row, *, as_json: bool) -> None:
    """One thing, a field a line; fields without a value are left out, except in JSON."""
    if as_json:
        say_json(fields)
        return
    width = max(len(name) for name in fields)
    for name, value in fields.items():
        if value is not None:
            sys.stdout.write(f"{name.ljust(width)}  {cell(value)}\n")


def say_json(value: Any) -> None:
    """The answer as JSON in ASCII: on one line in a pipe."""
    indent = 2 if sys.stdout.isatty() else None
    sys.stdout.write(json.dumps(value, default=_plain, indent=indent) + "\n")


def cell(value: Any) -> str:
    """A value as a person reads it, on one line."""
    match value:
        case None:
            return ""
        case datetime():
            return value.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%SZ")
        case timedelta():
            return lasting(value)
        case bool():
            return "yes" if value else "no"
        case dict() | list():
            return clean(json.dumps(value, default=_plain, ensure_ascii=False))
    return clean(str(value))


def _draw(rows: Sequence[Row], columns: Sequence[str]) -> None:
    drawn = Table(box=None, header_style="bold", pad_edge=False)
    for column in columns:
        drawn.add_column(column.replace("_", " "), justify="right" if _is_number(rows[0][column]) else "left")
    for row in rows:
        # Text, not str: what stands in square brackets in somebody's data is no markup.
        drawn.add_row(*(Text(cell(row[column])) for column in columns))
    Console().print(drawn)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _plain(value: Any) -> Any:
    match value:
        case datetime():
            return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
        case timedelta():
            return value.total_seconds()
    return str(value)


def readable(text: str | None) -> Any:
    """The value of a JSON text; the text itself where Python cannot hold the value, such as 1e4300."""
    if text is None:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
