"""Alerts as the command line shows and silences them."""

from typing import Any

import psycopg
import pytest

from tests.cli.conftest import Command

BEGIN = """
insert into crontick.alerts (name, subject, since, started_at, ended_at, counted, what, mend)
values
    ('breaker_open', 'endpoint:crm', crontick.now(), crontick.now(), null, 3, 'it keeps failing', 'crontick breakers'),
    ('doubts', 'send_email', crontick.now(), crontick.now(), crontick.now(), 1, 'nobody knows', 'crontick doubts list')
"""
Conn = psycopg.Connection[Any]


@pytest.fixture(autouse=True)
def alerts(sync_conn: Conn) -> None:
    sync_conn.execute(BEGIN)


def test_the_command_alone_shows_what_is_wrong_now_and_list_also_what_was(cli: Command) -> None:
    assert [line[:2] for line in cli("alerts").lines] == [["breaker_open", "endpoint:crm"]]
    assert [alert["name"] for alert in cli("alerts", "list", "--json").json["alerts"]] == ["breaker_open", "doubts"]


def test_a_silence_is_shown_audited_and_ended_by_one_of_no_length(cli: Command, sync_conn: Conn) -> None:
    said = cli("alerts", "silence", "breaker_open", "--for", "2h", "--reason", "known", "--by", "ann")
    assert said.out.startswith("breaker_open: silent until")
    told = cli("alerts")
    assert told.lines[0][5] != ""
    assert "by ann (known)" in told.err
    audited = sync_conn.execute("select action, target, by, reason from crontick.audit").fetchall()
    assert audited == [("silence", "breaker_open", "ann", "known")]
    assert cli("alerts", "silence", "breaker_open", "--for", "0s").out == "breaker_open: told again\n"
    assert cli("alerts", "--json").json["silences"] == []


def test_a_name_that_is_no_alert_is_refused_with_those_that_are(cli: Command) -> None:
    said = cli("alerts", "silence", "breaker", "--for", "2h")
    assert (said.status, "breaker_open" in said.err) == (2, True)


def test_triggers_are_shown_with_what_is_expected_and_their_gaps(cli: Command, sync_conn: Conn) -> None:
    sync_conn.execute(
        "insert into crontick.ticks (opening, started_at, deadline, lease_expires_at, ended_at, trigger)"
        " select n, at, at, at, at, 'github-actions' from (select n, crontick.now() - (70 - n) * interval '15 minutes'"
        " - case when n < 5 then interval '2 hours' else '0' end as at from generate_series(1, 60) as n) as t"
    )
    said = cli("ticks", "--triggers")
    assert said.lines[0][:3] == ["github-actions", "15m", "60"]
    assert "on time" in said.out
    [told] = cli("ticks", "--triggers", "--json").json
    assert (told["on_time"], told["missing_gaps"], told["expected"]) == (58, 1, 900)


def test_the_status_shows_what_fires_and_until_when_it_is_silent(cli: Command) -> None:
    cli("alerts", "silence", "breaker_open", "--for", "2h", "--by", "ann")
    [line] = [line for line in cli("status").out.splitlines() if line.startswith("alert: ")]
    assert line.startswith("alert: breaker_open endpoint:crm since 20")
    assert ", at first: " in line
    assert "it keeps failing: `crontick breakers`; silent until 20" in line
    assert [alert["name"] for alert in cli("status", "--json").json["alerts"]] == ["breaker_open"]
