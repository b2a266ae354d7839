"""Settings that are each allowed, and together, or beside what the ticks tell, are not right."""

import hashlib
import secrets
from pathlib import Path

import pytest

from crontick.handler.doctor.strength import guessable
from tests.cli.conftest import Command
from tests.doctor.conftest import Conn, said, wrong

MADE = "9c41e0b7d25a8f36134e"
OTHER = "70b8d91fe3c652a4f08d"
TICK = (
    "insert into crontick.ticks (opening, started_at, deadline, lease_expires_at, ended_at, trigger, token)"
    " select n, now() - %(age)s::interval, now(), now() - interval '1 second', %(ended)s::timestamptz, 'curl',"
    " %(token)s"
    " from generate_series(1, %(ticks)s) as n"
)


@pytest.mark.parametrize(
    ("name", "value", "what"),
    [
        ("CRON_SECRET", "short", "CRON_SECRET is shorter than 16 characters: make one with `openssl rand -hex 32`"),
        ("CRONTICK_HOST_LIMIT_SECONDS", "20", "CRONTICK_HOST_LIMIT_SECONDS is 20, and a tick may take 25 s: lower"),
        ("CRONTICK_MODULES", "tests.cli.nowhere", "tests.cli.nowhere"),
        ("CRONTICK_BUDGET_SECONDS", "5", "send_email needs 8 s, and the longest tick leaves 4.5 s: raise"),
        ("CRONTICK_DATABASE_URL", "", "CRONTICK_DATABASE_URL is not set, nor DATABASE_URL: name the PostgreSQL"),
    ],
)
def test_what_no_tick_starts_with(
    doctor: Command, monkeypatch: pytest.MonkeyPatch, name: str, value: str, what: str
) -> None:
    monkeypatch.setenv(name, value)
    assert [sentence for sentence in wrong(doctor) if what in sentence]


def test_a_fault_of_the_file_is_told_and_the_database_is_looked_at_all_the_same(
    doctor: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "wrong.toml"
    file.write_text("[retention]\nsucceded = '7d'\n")
    monkeypatch.setenv("CRONTICK_CONFIG", str(file))
    [sentence] = wrong(doctor)
    assert sentence.startswith("wrong.toml:2")
    assert "a round trip takes" in said(doctor)


@pytest.mark.parametrize(
    "made_up",
    [
        "aaaaaaaaaaaaaaaa",
        "password12345678",
        "letmeinletmein12",
        "crontickcrontick",
        "0123456789abcdef",
        "MySecretPassword",
    ],
)
def test_a_secret_that_somebody_made_up_is_found_and_never_quoted(
    doctor: Command, monkeypatch: pytest.MonkeyPatch, made_up: str
) -> None:
    monkeypatch.setenv("CRON_SECRET", f"{MADE},{made_up}")
    answer = doctor()
    assert "! CRON_SECRET, value 2 of 2, looks made up by a person\n" in answer.out
    assert made_up not in answer.out


def test_what_a_generator_made_is_never_called_guessable() -> None:
    for size in (16, 32):
        assert [made for _ in range(500) if guessable(made := secrets.token_hex(size))] == []
        assert [made for _ in range(500) if guessable(made := secrets.token_urlsafe(size))] == []


def test_a_rotation_that_was_not_ended(doctor: Command, owner: Conn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRON_SECRET", f"{MADE},{OTHER}")
    assert "called with CRON_SECRET" not in said(doctor), "nobody has called yet"
    called = {"age": "1 day", "ended": "now", "ticks": 1, "token": hashlib.sha256(MADE.encode()).hexdigest()[:8]}
    owner.execute(TICK.encode(), called)
    assert "no tick that is still known was called with CRON_SECRET's value 2 of 2" in said(doctor)
    assert wrong(doctor) == []


def test_ticks_that_the_host_kills(doctor: Command, owner: Conn) -> None:
    assert "CRONTICK_HOST_LIMIT_SECONDS is not set: a lease ends 40 s after its tick began" in said(doctor)
    owner.execute(TICK.encode(), {"age": "23 hours", "ended": None, "ticks": 3, "token": None})
    [sentence] = wrong(doctor)
    assert sentence.startswith(
        "ticks of the last day that died before their end: 3; CRONTICK_HOST_LIMIT_SECONDS is not set"
    )


def test_a_connection_that_is_kept_from_tick_to_tick(doctor: Command, owner: Conn) -> None:
    owner.execute(
        "insert into crontick.ticks (opening, started_at, deadline, lease_expires_at, ended_at, trigger)"
        " select n, now() - n * interval '30 s', now(), now(), now(), 'curl' from generate_series(0, 200) as n"
    )
    assert "ticks come every 30s, and a connection is kept for up to 60 s" in said(doctor)
    assert wrong(doctor) == []
