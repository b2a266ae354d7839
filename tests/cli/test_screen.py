"""What is shown can neither move a cursor nor pass for markup."""

import os
import pty
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest

from crontick.handler.cli.screen import cell, clean
from crontick.handler.lengths import lasting


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("plain", "plain"),
        ("\x1b[31mred\x1b[0m", "[31mred[0m"),
        ("a\tb\nc", "a b c"),
        ("a\rb\x00c\x9b2J", "abc2J"),
        ("\u202ereversed\u2066", "reversed"),
        ("Grüße 🎉", "Grüße 🎉"),
    ],
)
def test_control_characters_are_stripped(given: str, shown: str) -> None:
    assert clean(given) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, ""),
        (0, "0"),
        (True, "yes"),
        (datetime(2026, 11, 30, 9, 15, tzinfo=UTC), "2026-11-30 09:15:00Z"),
        (timedelta(minutes=5), "5m"),
        ({"a": "\x1b"}, '{"a": "\\u001b"}'),
    ],
)
def test_a_value_is_shown_on_one_line(value: object, shown: str) -> None:
    assert cell(value) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0, "0s"), (-5, "0s"), (59, "59s"), (61, "1m 1s"), (3600, "1h"), (90_061, "1d 1h")],
)
def test_a_length_is_told_in_its_two_largest_units(seconds: int, shown: str) -> None:
    assert lasting(timedelta(seconds=seconds)) == shown


DRAWS = """
from crontick.handler.cli.screen import table
table([{"id": 7, "error": "[bold]no markup[/bold]"}], ["id", "error"], as_json=False, nothing="")
"""


def test_a_terminal_gets_a_table_in_which_data_is_no_markup() -> None:
    ours, theirs = pty.openpty()
    subprocess.run([sys.executable, "-c", DRAWS], stdout=theirs, check=True, env={**os.environ, "COLUMNS": "80"})
    os.close(theirs)
    drawn = os.read(ours, 65536).decode()
    os.close(ours)
    assert "[bold]no markup[/bold]" in drawn
