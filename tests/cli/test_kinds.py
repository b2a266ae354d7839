"""``crontick check --kinds`` shows every kind as a tick knows it."""

import json
from pathlib import Path
from typing import Any

import pytest

from crontick.handler.cli.kinds import COLUMNS, delays
from crontick.jobs.backoff import Exponential, normal
from tests.cli.conftest import Command

URL = '[kinds.resize_image]\nurl = "https://app.example/jobs/resize"\n'


@pytest.fixture
def config(bare: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    path = tmp_path / "crontick.toml"
    monkeypatch.setenv("CRONTICK_CONFIG", str(path))
    path.touch()
    return path


def shown(command: Command) -> dict[str, dict[str, Any]]:
    answer = command("check", "--kinds", "--json")
    assert answer.status == 0
    return {row["kind"]: row for row in json.loads(answer.out)}


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("send_email", ("mail", 10, "15s", "8s", 5, "1m 5m 30m 2h")),
        ("deliver_webhook", ("default", 0, "8s", "6s", 8, "1m 5m 30m 2h 5h 10h 1d")),
        ("resize_image", ("default", 0, "20s", "10s", 5, "1m 5m 30m 2h")),
        ("generate_report", ("slow", -10, "20s", "10s", 3, "1m 5m 30m 2h")),
        ("run_sql", ("slow", -10, "20s", "10s", 3, "1m 5m 30m 2h")),
    ],
)
def test_what_ships_has_the_numbers_of_the_design(
    bare: Command, config: Path, kind: str, told: tuple[object, ...]
) -> None:
    config.write_text(URL)
    row = shown(bare)[kind]
    assert tuple(row[name] for name in ("queue", "priority", "timeout", "needs", "attempts", "delays")) == told
    assert row["overridden"] is None


def test_it_says_where_each_is_declared_and_what_the_file_overrides(
    bare: Command, config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRONTICK_MODULES", "tests.cli.acme")
    mail = '[kinds.send_email]\ntimeout = 90\nbackoff = { base = "90s", cap = "2h" }\n'
    config.write_text(URL + 'queue = "slow"\nsecret = ["token"]\n' + mail)
    told = shown(bare)
    url, email = told["resize_image"], told["send_email"]
    assert (url["declared"], url["overridden"], url["secret"]) == ("crontick.toml", "queue, secret", "token")
    assert (email["declared"], email["overridden"]) == ("crontick", "timeout, backoff")
    assert (email["timeout"], email["delays"], email["marker"]) == ("90s", "90s x2 to 2h", "dedupe_key (park)")
    assert told["greet"]["declared"] == "tests.cli.acme:greet"


def test_it_says_who_has_a_breaker(bare: Command, config: Path) -> None:
    config.write_text(URL + "breaker = false\n[kinds.run_sql]\nbreaker = true\n")
    told = shown(bare)
    assert {kind for kind, row in told.items() if row["breaker"]} == {"send_email", "deliver_webhook", "run_sql"}
    assert (told["resize_image"]["overridden"], told["run_sql"]["overridden"]) == ("breaker", "breaker")


def test_in_a_pipe_it_is_one_line_a_kind(bare: Command, config: Path) -> None:
    lines = bare("check", "--kinds").out.splitlines()
    assert lines[0].split("\t") == list(COLUMNS)
    assert {line.split("\t")[0] for line in lines[1:]} >= {"send_email", "deliver_webhook", "run_sql"}


def test_a_fault_of_the_file_is_told(bare: Command, config: Path) -> None:
    config.write_text("[kinds.x]\n")
    answer = bare("check", "--kinds")
    assert (answer.status, answer.out) == (1, "")
    assert "crontick.toml:1: kinds.x: this deployment has no kind x" in answer.err


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (normal(None), "1m 5m 30m 2h"),
        (normal([0.5, 90, 86_400]), "0.5s 90s 1d"),
        (Exponential(1, 1.5, 90), "1s x1.5 to 90s"),
    ],
)
def test_delays_are_told_in_their_largest_unit(given: Any, told: str) -> None:
    assert delays(given) == told


def test_kinds_at_a_url_need_the_secret_that_signs(
    bare: Command, config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CRONTICK_SIGNING_SECRET", raising=False)
    config.write_text(URL)
    said = "CRONTICK_SIGNING_SECRET is not set, and [kinds.resize_image] of crontick.toml needs it"
    assert said in bare("check", "--offline").out
    monkeypatch.setenv("CRONTICK_SIGNING_SECRET", "whsec_" + "C" * 43 + "=")
    assert "CRONTICK_SIGNING_SECRET" not in bare("check", "--offline").out
