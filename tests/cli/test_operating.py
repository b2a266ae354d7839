"""What died, is in doubt or is paused is found and decided from the command line."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from crontick.handler.cli.status import findings
from tests.cli.conftest import Command


def dead_job(cli: Command) -> str:
    job = cli("enqueue", "break_at_once", '{"name": "Ada"}').out.strip()
    assert cli("tick", "--json").json["dead"] == 1
    return job


def test_a_dead_job_is_listed_shown_and_requeued_with_an_edited_payload(cli: Command) -> None:
    job = dead_job(cli)
    [line] = cli("dead", "list").lines
    assert line[:2] == [job, "break_at_once"]
    assert "Ada cannot be greeted" in line[-1]
    assert cli("dead", "show", job, "--json").json["attempts"][0]["outcome"] == "dead"
    answer = cli(
        "dead", "requeue", job, "--payload", '{"name": "Bob"}', "--by", "ada", "--reason", "typo", "--json"
    ).json
    copy = cli("show", str(answer["requeued_as"]), "--json").json
    assert (copy["payload"], copy["requeued_from"]) == ({"name": "Bob"}, int(job))
    assert cli("dead", "requeue", job, "--json").json == {**answer, "before": True}
    again = cli("dead", "requeue", job)
    told = f"job {job} was requeued before, as job {answer['requeued_as']} (queued); nothing was done\n"
    assert (again.status, again.out) == (0, told)
    for dropped in (["--payload", '{"name": "Eve"}'], ["--at", "2099-01-01T00:00:00Z"]):
        assert (cli("dead", "requeue", job, *dropped).status, len(cli("jobs", "--json").json)) == (1, 2)
    assert cli("dead", "list").out == ""


def test_a_dead_job_is_ignored_with_a_reason(cli: Command) -> None:
    job = dead_job(cli)
    assert cli("dead", "ignore", job, "--reason", "a test").out == f"job {job} is ignored\n"
    again = cli("dead", "ignore", job, "--reason", "a test")
    assert (again.status, "nothing to ignore" in again.err) == (1, True)


def test_a_live_job_is_not_requeued(cli: Command) -> None:
    job = cli("enqueue", "greet").out.strip()
    answer = cli("dead", "requeue", job)
    assert (answer.status, answer.err) == (
        1,
        f"job {job} is not dead yet (`crontick run-now 1` makes it due at once)\n",
    )


@pytest.mark.parametrize(("decision", "again"), [("sent", 0), ("not-sent", 1)])
def test_a_doubt_is_decided(cli: Command, decision: str, again: int) -> None:
    job = cli("enqueue", "mail", '{"key": "receipt:42"}').out.strip()
    cli("tick")
    [doubt] = cli("doubts", "list", "--json").json
    assert (doubt["kind"], doubt["key"], doubt["job"]) == ("mail", "receipt:42", int(job))
    assert "1: `crontick doubts list`" in cli("status").out
    assert cli("doubts", decision, "mail", "receipt:42", "--reason", "asked the customer").status == 0
    assert cli("doubts", "list", "--json").json == []
    assert len(cli("jobs", "--status", "queued", "--json").json) == again
    assert cli("doubts", decision, "mail", "receipt:42").status == 1


@pytest.mark.parametrize("what", [["all"], ["queue", "default"], ["kind", "greet"]])
def test_what_is_paused_is_not_run_until_it_is_resumed(cli: Command, what: list[str]) -> None:
    cli("enqueue", "greet")
    assert cli("pause", *what, "--by", "ada", "--reason", "deploying").status == 0
    assert f"paused: {' '.join(what)} since 20" in cli("status").out
    cli("tick")
    assert cli("jobs", "--status", "queued", "--json").json
    assert cli("resume", *what).status == 0
    assert cli("tick", "--json").json["succeeded"] == 1
    assert cli("resume", *what).status == 1


def test_a_queue_that_nobody_knows_is_paused_with_a_warning(cli: Command) -> None:
    cli("tick")  # it makes the kinds known
    answer = cli("pause", "queue", "defualt")
    assert (answer.status, answer.out) == (0, "queue defualt: paused\n")
    assert answer.err == (
        "warning: paused, but no kind, schedule or unfinished job has the queue defualt (did you mean default?)"
        " (`crontick resume queue defualt` takes it back)\n"
    )


def test_a_tick_that_did_not_run_is_something_wrong(cli: Command) -> None:
    cli("pause", "all")
    answer = cli("tick", "--json")
    assert (answer.status, answer.json["reason"]) == (1, "paused")


def test_a_dry_run_changes_nothing(cli: Command) -> None:
    job = cli("enqueue", "greet").out.strip()
    assert cli("tick", "--dry-run").lines == [[job, "greet", "default"]]
    assert cli("jobs", "--status", "queued", "--json").json
    assert cli("ticks", "--json").json == []


def test_a_tick_without_a_limit_drains_what_is_due(cli: Command, database: str) -> None:
    with psycopg.connect(database, autocommit=True) as conn:
        conn.execute("select crontick.enqueue('greet') from generate_series(1, 1200)")
    summaries = [json.loads(line) for line in cli("tick", "--limit", "none", "--json").out.splitlines()]
    assert sum(summary["succeeded"] for summary in summaries) == 1200
    assert len(summaries) > 1


def test_a_tick_serves_the_queues_kinds_and_jobs_that_it_is_told(cli: Command) -> None:
    first = cli("enqueue", "greet", "--queue", "a").out.strip()
    second = cli("enqueue", "greet", "--queue", "b", "--in", "2h").out.strip()
    assert cli("tick", "--queue", "c", "--json").json["claimed"] == 0
    assert cli("tick", "--kind", "mail", "--json").json["claimed"] == 0
    assert cli("tick", "--job", second, "--json").json["claimed"] == 1
    assert cli("tick", "--queue", "a", "--kind", "greet", "--json").json["claimed"] == 1
    assert {row["id"] for row in cli("jobs", "--status", "succeeded", "--json").json} == {int(first), int(second)}


def test_ticks_are_listed_the_latest_first(cli: Command) -> None:
    cli("enqueue", "greet")
    cli("tick")
    cli("tick")
    latest, first = cli("ticks", "--json").json
    assert (first["claimed"], first["ended"], first["trigger"]) == (1, "empty", "command-line")
    assert latest["id"] > first["id"]
    assert cli("ticks", "--trigger", "curl", "--json").json == []


def test_all_is_well_where_nothing_waits(cli: Command) -> None:
    cli("enqueue", "greet")
    cli("tick")
    answer = cli("status", "--json")
    assert (answer.status, answer.json["wrong"], answer.json["environment"]) == (0, [], "test")


def test_a_job_whose_end_is_refused_is_found_from_the_status(cli: Command, database: str) -> None:
    job = cli("enqueue", "greet", "--expires-at", "2099-01-01T00:00:00Z").out.strip()
    with psycopg.connect(database, autocommit=True) as conn:
        conn.execute(
            "insert into crontick.finished_jobs"
            " (id, run_at, created_at, finished_at, priority, attempt, kind, queue, status, payload)"
            " values (%s, now(), now(), now(), 0, 1, 'greet', 'default', 'succeeded', '{}')",
            (job,),
        )
        conn.execute("update crontick.unfinished_jobs set expires_at = now()")
    assert cli("tick").status == 0
    answer = cli("status")
    assert (answer.status, "the database refuses to store: 1" in answer.out) == (1, True)
    found = cli("jobs", "--error", "the database refuses", "--json").json
    assert [row["id"] for row in found] == [int(job)]


def test_what_waits_for_a_person_makes_status_fail(cli: Command) -> None:
    dead_job(cli)
    cli("enqueue", "unheard_of")
    cli("tick")
    answer = cli("status", "--json")
    assert answer.status == 1
    assert [sentence.split(":")[0] for sentence in answer.json["wrong"]] == [
        "dead jobs that wait for a decision",
        "jobs of kinds that no deployment knows",
    ]


STATE = {
    "installed_age": timedelta(hours=1),
    "last_tick_age": None,
    "oldest_due": None,
    "died_ticks": 0,
    "dead_letters": 0,
    "disabled_endpoints": 0,
    "open_breakers": 0,
    "kept_schedules": 0,
    "doubts": 0,
    "unknown_kinds": None,
    "missing_keys": None,
    "refused_ends": 0,
}


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ({}, ""),
        ({"last_tick_age": timedelta(hours=23)}, ""),
        ({"oldest_due": timedelta(minutes=5)}, "no tick has come yet, and the oldest job has been due for 5m"),
        ({"installed_age": timedelta(hours=25)}, "no tick has come yet, and nothing is due: call POST /cron/tick"),
        ({"last_tick_age": timedelta(hours=25)}, "no tick has come for 1d 1h, and nothing is due"),
        ({"refused_ends": 1}, "jobs whose end the database refuses to store: 1: `crontick jobs --error"),
        ({"disabled_endpoints": 1}, "endpoints that answered 410 and are disabled: 1: `crontick resume endpoint NAME`"),
        (
            {"open_breakers": 3},
            "targets that are left alone, for they fail or somebody said so: 3: `crontick br",
        ),
        ({"died_ticks": 2}, "ticks of the last hour that died before their end: 2"),
    ],
)
def test_silence_is_told(state: dict[str, object], said: str) -> None:
    found = findings({**STATE, **state}, timedelta(hours=24))
    assert [sentence.startswith(said) for sentence in found] == ([True] if said else [])


@pytest.mark.parametrize(
    ("options", "hours", "age", "status"),
    [
        ([], 23, "23h", 0),
        ([], 25, "1d 1h", 1),
        (["--max-age", "2h"], 3, "3h", 1),
        (["--max-age", "2d"], 25, "1d 1h", 0),
    ],
)
def test_a_trigger_that_went_silent_is_found_though_nothing_waits(
    cli: Command, sync_conn: psycopg.Connection[Any], options: list[str], hours: int, age: str, status: int
) -> None:
    cli("tick")
    sync_conn.execute("update crontick.test_clock set ahead = make_interval(hours => %s)", [hours])
    answer = cli("status", *options)
    assert f"last tick {age}" in answer.out
    assert (answer.status, f"! no tick has come for {age}" in answer.out) == (status, status == 1)


def test_a_tick_that_died_is_told_for_an_hour(cli: Command, database: str) -> None:
    with psycopg.connect(database, autocommit=True) as conn:
        for minutes, status in ((59, 1), (61, 0)):
            conn.execute("delete from crontick.ticks")
            conn.execute(
                "insert into crontick.ticks (opening, started_at, deadline, lease_expires_at)"
                " select 1, t.at, t.at, t.at from (select now() - make_interval(mins => %s) as at) as t",
                (minutes,),
            )
            answer = cli("status")
            assert (answer.status, "that died before their end: 1" in answer.out) == (status, status == 1)


def test_reminders_are_previewed_without_a_trace(cli: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "crontick.toml"
    path.write_text(
        """
[[reminder]]
name = "booking"
lead = "24h"
kind = "greet"
query = "select 7 as item, now() + interval '1 hour' as item_at, '{}'::jsonb as payload where :from < :to"

[[reminder]]
name = "broken"
lead = "24h"
kind = "greet"
query = "select nothing from nowhere"
"""
    )
    monkeypatch.setenv("CRONTICK_CONFIG", str(path))
    monkeypatch.setenv("CRONTICK_MODULES", "tests.cli.acme, tests.cli.acme_reminders")
    answer = cli("reminders", "preview", "--json")
    assert [(row["reminder"], row["item"], row["state"]) for row in answer.json] == [
        ("generated", "soon", "due"),
        ("generated", "later", "later"),
        ("booking", "7", "due"),
    ]
    assert (answer.status, "reminder broken: " in answer.err) == (1, True)
    assert cli("reminders", "preview", "booking").status == 0
    assert cli("jobs", "--json").json == []


def test_blocked_groups_are_shown_with_head_ages_and_counts(cli: Command) -> None:
    assert (cli("groups").out, cli("groups", "--json").json) == ("", [])
    head = cli("enqueue", "stumble", "--group", "invoice:7").out.strip()
    cli("enqueue", "greet", "--group", "invoice:7")
    cli("tick")
    [group] = cli("groups", "--json").json
    assert (group["group_key"], group["head"], group["head_kind"]) == ("invoice:7", int(head), "stumble")
    assert (group["head_status"], group["head_attempt"], group["waiting"]) == ("failed", 1, 1)
    assert 0 <= group["oldest_age"] <= group["head_age"]
    [line] = cli("groups").lines
    assert (line[0], "world is out" in line[-1]) == ("invoice:7", True)
