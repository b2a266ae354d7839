"""The body of a tick is read whole or refused by name."""

import json
from datetime import UTC, datetime

import pytest

from crontick.jobs.request import RANGES, BadRequest, OutOfRange, TickRequest, parse


@pytest.mark.parametrize("body", [b"", b"  \r\n", b"{}", b'{"limit": null}'])
def test_a_body_that_asks_for_nothing_is_fine(body: bytes) -> None:
    assert parse(body) == TickRequest()


def test_every_field_is_read() -> None:
    body = {
        "limit": 1000,
        "budget_seconds": 2.5,
        "queues": ["mail"],
        "kinds": ["send_email"],
        "jobs": [1, 2**63 - 1],
        "dry_run": True,
        "trigger": "curl",
        "scheduled_for": "2026-11-30T10:15:00+01:00",
        "verbose": True,
        "depth": 5,
    }
    request = parse(json.dumps(body).encode())
    assert set(body) == set(RANGES) == set(TickRequest.__struct_fields__)
    assert request.scheduled_for == datetime(2026, 11, 30, 9, 15, tzinfo=UTC)
    assert (request.limit, request.budget_seconds, request.jobs) == (1000, 2.5, (1, 2**63 - 1))


@pytest.mark.parametrize(
    "body",
    [
        b"null",
        b"[]",
        b"1",
        b'"limit"',
        b"true",
        b"not json",
        b'{"limit": 1',
        b'{"limit": 1} x',
        b'{"limit": 01}',
        b'{"limit": NaN}',
        b"{'limit': 1}",
        b"limit=1",
        b"\xff\xfe{\x00}\x00",
        b"\xef\xbb\xbf{}",
        b'{"trigger": "\xff"}',
        b'{"trigger": "\\ud800"}',
        b"[" * 100_000,
        b'{"limit":' * 100_000,
        b"\x00",
    ],
)
def test_what_is_not_a_json_object_is_a_bad_request(body: bytes) -> None:
    with pytest.raises(BadRequest):
        parse(body)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("limit", 0),
        ("limit", -1),
        ("limit", 1001),
        ("limit", 10.5),
        ("limit", True),
        ("limit", "10"),
        ("limit", [[[]]]),
        ("limit", 10**30),
        ("budget_seconds", 0.5),
        ("budget_seconds", 901),
        ("budget_seconds", "25"),
        ("queues", []),
        ("queues", "mail"),
        ("queues", ["Mail"]),
        ("queues", [""]),
        ("queues", ["mail\n"]),
        ("queues", ["a" * 65]),
        ("queues", [None]),
        ("queues", ["mail"] * 101),
        ("kinds", ["-x"]),
        ("kinds", {}),
        ("jobs", []),
        ("jobs", [0]),
        ("jobs", [2**63]),
        ("jobs", [True]),
        ("jobs", list(range(1, 102))),
        ("dry_run", 1),
        ("dry_run", "true"),
        ("trigger", ""),
        ("trigger", "x" * 65),
        ("trigger", "a\x00b"),
        ("trigger", "a\nb"),
        ("scheduled_for", "2026-11-30T09:15:00"),
        ("scheduled_for", "tomorrow"),
        ("scheduled_for", 1796030100),
        ("scheduled_for", "0001-01-01T00:00:00Z"),
        ("scheduled_for", "9999-12-31T23:59:59Z"),
        ("verbose", "yes"),
        ("depth", 6),
        ("depth", -1),
    ],
)
def test_a_field_out_of_range_is_named_with_its_range(field: str, value: object) -> None:
    with pytest.raises(OutOfRange) as raised:
        parse(json.dumps({field: value}).encode())
    assert str(raised.value) == f"{field} {RANGES[field]}"


def test_a_number_beyond_all_numbers_is_out_of_range() -> None:
    with pytest.raises(OutOfRange):
        parse(b'{"limit": 1e999}')


def test_an_unknown_field_is_named_beside_the_known_ones() -> None:
    with pytest.raises(OutOfRange, match="no field 'limits'; the fields are limit, budget_seconds"):
        parse(b'{"limits": 10}')


def test_an_unknown_field_of_any_length_is_quoted_shortly_and_in_printable_characters() -> None:
    with pytest.raises(OutOfRange) as raised:
        parse(json.dumps({"\x1b[31m" + "x" * 3000: 1}).encode())
    assert len(str(raised.value)) < 300
    assert str(raised.value).isprintable()
