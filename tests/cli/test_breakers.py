"""Breakers on the command line: listed, opened, closed, forgotten, and told in the status."""

import psycopg

from tests.cli.conftest import Command


def test_a_breaker_is_opened_and_closed_by_hand_and_told(cli: Command) -> None:
    assert cli("breakers", "open", "https://crm.example", "--by", "ada", "--reason", "their maintenance").status == 0
    [row] = cli("breakers", "--json").json
    assert (row["target"], row["state"], row["by"], row["waiting"]) == ("https://crm.example", "open", "ada", 0)
    said = cli("status")
    assert said.status == 1
    assert "open: https://crm.example since 20" in said.out
    assert "by ada (their maintenance); jobs that wait: 0" in said.out
    assert [found["target"] for found in cli("status", "--json").json["breakers"]] == ["https://crm.example"]
    assert cli("breakers", "close", "https://crm.example", "--by", "ada").out == "https://crm.example: closed\n"
    assert cli("status").status == 0


def test_what_is_not_open_cannot_be_closed(cli: Command) -> None:
    answer = cli("breakers", "close", "endpoint:crm")
    assert answer.status == 1
    assert "no breaker of endpoint:crm is open" in answer.err
    assert "a breaker belongs to endpoint:NAME, kind:NAME or a URL" in cli("breakers", "open", "crm").err
    assert cli("breakers").err == "no target failed lately\n"


def test_a_reset_forgets_what_a_close_remembers(cli: Command, database: str) -> None:
    cli("breakers", "open", "https://crm.example")
    with psycopg.connect(database, autocommit=True) as conn:
        conn.execute("update crontick.breakers set times_opened = 3")
    cli("breakers", "close", "https://crm.example")
    [row] = cli("breakers", "--json").json
    assert (row["state"], row["times_opened"]) == ("closed", 3)
    cli("breakers", "reset", "https://crm.example")
    assert cli("breakers", "--json").json == []
