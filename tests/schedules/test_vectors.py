"""Expressions with the slots that they name, and those that are refused or read in one way."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from crontick.jobs.slots import CronError, Slot, between, following, parse

KNOWN = json.loads(Path(__file__).with_name("vectors.json").read_text())


def described(case: Any) -> str:
    return f"{case['expr']} {case['tz']} {case['after'][:16]}" if "tz" in case else str(case["expr"])


@pytest.mark.parametrize("case", KNOWN["named"], ids=described)
def test_an_expression_names_these_slots(case: dict[str, Any]) -> None:
    expression = parse(case["expr"], case["tz"])
    last: Slot | datetime = datetime.fromisoformat(case["after"])
    slots = [last := following(expression, last) for _ in case["slots"]]
    expected = [datetime.fromisoformat(at) for at in case["slots"]]
    assert [slot.at for slot in slots] == expected
    assert between(expression, datetime.fromisoformat(case["after"]), expected[-1], 1000) == (slots, len(slots))


@pytest.mark.parametrize("text", KNOWN["refused"], ids=repr)
def test_what_is_no_expression_is_refused(text: str) -> None:
    with pytest.raises(CronError):
        parse(text, "Europe/Berlin")


@pytest.mark.parametrize("case", KNOWN["read"], ids=described)
def test_an_unusual_expression_is_read_in_one_way(case: dict[str, Any]) -> None:
    slot = following(parse(case["expr"], "UTC"), datetime(2026, 1, 1, tzinfo=UTC))
    assert slot.at == datetime.fromisoformat(case["slot"])
