"""Endpoints by hand: set, shown without what is secret about them, given another secret, dropped."""

import io
import socket
import sys
from pathlib import Path

import psycopg
import pytest

from crontick.jobs.kinds.signature import new_secret, signing_key
from tests.cli.conftest import Command

URL = "https://crm.example/hooks/T0P/s3cret"


def stored(database: str) -> tuple[str, str, str | None]:
    """URL, secret and the one before."""
    with psycopg.connect(database) as conn:
        row = conn.execute("select url, secret, old_secret from crontick.webhook_endpoints").fetchone()
    assert row is not None
    return row[0], row[1], row[2]


def test_a_new_endpoint_is_given_a_secret_which_is_printed_once(cli: Command, database: str) -> None:
    made = cli("webhook", "set", "crm", URL, "--reason", "a customer").out.strip()
    assert len(signing_key(made)) == 32
    assert stored(database) == (URL, made, None)
    assert cli("webhook", "set", "crm", f"{URL}/2").out == "endpoint crm: set\n"
    assert stored(database) == (f"{URL}/2", made, None)


def test_the_list_shows_hosts_and_whole_urls_when_asked_for(cli: Command) -> None:
    cli("webhook", "set", "crm", URL)
    listed = cli("webhook", "list")
    assert "crm.example" in listed.out
    assert "s3cret" not in listed.out
    assert [row["url"] for row in cli("webhook", "list", "--urls", "--json").json] == [URL]


def test_a_url_that_is_secret_comes_from_stdin(cli: Command, database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{URL}\n"))
    assert cli("webhook", "set", "crm", "-").status == 0
    assert stored(database)[0] == URL


def test_a_secret_of_ones_own_stands_in_a_variable(
    cli: Command, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = new_secret()
    monkeypatch.setenv("CRM_SECRET", own)
    assert cli("webhook", "set", "crm", URL, "--secret-env", "CRM_SECRET", "--json").json == {
        "name": "crm",
        "secret": None,
    }
    assert stored(database)[1] == own
    monkeypatch.setenv("CRM_SECRET", f"{own},{new_secret()}")
    assert cli("webhook", "set", "crm", "--secret-env", "CRM_SECRET").status == 2


def test_another_secret_is_made_and_the_one_before_stays_for_a_day(cli: Command, database: str) -> None:
    first = cli("webhook", "set", "crm", URL).out.strip()
    second = cli("webhook", "rotate", "crm").out.strip()
    assert stored(database) == (URL, second, first)


def test_a_dropped_endpoint_is_gone_and_the_audit_says_who(cli: Command, database: str) -> None:
    cli("webhook", "set", "crm", URL)
    assert cli("webhook", "drop", "crm", "--by", "ann").out == "endpoint crm: dropped\n"
    assert "there is no endpoint crm" in cli("webhook", "drop", "crm").err
    with psycopg.connect(database) as conn:
        told = conn.execute("select by from crontick.audit where action = 'drop_endpoint'").fetchall()
    assert told == [("ann",)]


def test_what_the_database_refuses_is_told(cli: Command) -> None:
    answer = cli("webhook", "set", "crm", "ftp://crm.example")
    assert answer.status != 0
    assert "begins with https://" in answer.err
    assert cli("webhook", "set", "crm").status != 0


def test_a_target_that_the_filter_refuses_is_told_when_it_is_set_and_by_check(
    cli: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STATS_SECRET", new_secret())
    monkeypatch.setattr(socket, "getaddrinfo", None)  # no name is looked up
    endpoint = '[[webhook_endpoint]]\nname = "stats"\nurl = "https://localhost/"\nsecret_env = "STATS_SECRET"\n'
    Path("crontick.toml").write_text(endpoint)
    assert cli("webhook", "set", "crm", URL).err == ""
    for name, host in (("inside", "10.0.0.5"), ("cloud", "169.254.169.254")):
        answer = cli("webhook", "set", name, f"https://{host}/s3cret")
        assert (answer.status, f"{host} is refused: " in answer.err, "[http] allow" in answer.err) == (0, True, True)
        assert "s3cret" not in answer.err
    told = cli("check").out
    assert [line.split()[2] for line in told.splitlines() if line.startswith("! endpoint")] == [
        "stats",
        "cloud",
        "inside",
    ]
    Path("crontick.toml").write_text(f'{endpoint}[http]\nallow = ["10.0.0.5", "localhost"]\n')
    told = cli("check").out
    assert [line.split()[2] for line in told.splitlines() if line.startswith("! endpoint")] == ["cloud"]
