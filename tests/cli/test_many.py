"""Decisions about many jobs: counted, confirmed, and never more than were confirmed."""

import io
import sys

import psycopg
import pytest

from tests.cli.conftest import Command


class Terminal(io.StringIO):
    """What somebody types."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def dead(cli: Command, database: str) -> Command:
    """``crontick dead …`` where three jobs of ``mail`` and one of ``greet`` are dead."""
    with psycopg.connect(database, autocommit=True) as conn:
        conn.execute(
            "insert into crontick.finished_jobs"
            " (id, run_at, created_at, finished_at, priority, attempt, kind, queue, status, payload, last_error)"
            " select -n, now(), now(), now(), 0, 1, case n when 4 then 'greet' else 'mail' end, 'default', 'dead',"
            " '{}', 'the server is away' from generate_series(1, 4) as n"
        )
    return lambda *arguments: cli("dead", *arguments)


def test_errors_are_counted_with_what_chooses_all_of_one(dead: Command) -> None:
    mails, greeting = dead("errors", "--json").json
    assert [(one["kind"], one["jobs"]) for one in (mails, greeting)] == [("mail", 3), ("greet", 1)]
    assert mails["last_error"] == "the server is away"


def test_all_of_a_kind_are_requeued_by_yes(dead: Command) -> None:
    answer = dead("requeue", "--kind", "mail", "--yes", "--by", "ada", "--reason", "it is back")
    assert (answer.status, answer.out) == (0, "dead jobs that match: 3; requeued: 3\n")
    assert [row["kind"] for row in dead("list", "--json").json] == ["greet"]


def test_what_died_of_one_customer_is_requeued_and_of_another_it_is_not(dead: Command, database: str) -> None:
    with psycopg.connect(database, autocommit=True) as conn:
        conn.execute(
            "update crontick.finished_jobs set kind = 'deliver_webhook', last_error = '404 from 127.0.0.1',"
            " payload = jsonb_build_object('endpoint', case when id > -3 then 'crm' else 'shop' end)"
        )
    counted = dead("errors", "--json").json
    assert {(one["kind"], one["endpoint"], one["jobs"]) for one in counted} == {
        ("deliver_webhook", "crm", 2),
        ("deliver_webhook", "shop", 2),
    }
    assert len(dead("list", "--endpoint", "crm", "--json").json) == 2
    answer = dead("requeue", "--endpoint", "crm", "--error", "404", "--yes")
    assert answer.out == "dead jobs that match: 2; requeued: 2\n"
    assert {row["endpoint"] for row in dead("list", "--json").json} == {"shop"}


def test_without_yes_a_pipe_is_told_the_count_and_nothing_is_done(dead: Command) -> None:
    answer = dead("ignore", "--all", "--reason", "a test")
    assert (answer.status, answer.out) == (2, "")
    assert answer.err == "dead jobs that match: 4; nothing was done: `--yes` confirms that count\n"
    assert len(dead("list", "--json").json) == 4


@pytest.mark.parametrize(("typed", "left"), [("y\n", 1), ("n\n", 4), ("\n", 4)])
def test_somebody_at_a_terminal_is_asked(dead: Command, monkeypatch: pytest.MonkeyPatch, typed: str, left: int) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(typed))
    answer = dead("ignore", "--kind", "mail", "--reason", "a test")
    assert "ignore 3 dead jobs?" in answer.err
    assert answer.status == (0 if left == 1 else 1)
    assert len(dead("list", "--json").json) == left


def test_more_than_were_confirmed_are_left_alone(dead: Command, database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Slow(Terminal):
        def readline(self, *_: object) -> str:  # type: ignore[override] # typeshed: its base reads bytes
            with psycopg.connect(database, autocommit=True) as conn:
                conn.execute("update crontick.finished_jobs set kind = 'mail' where kind = 'greet'")
            return "y\n"

    monkeypatch.setattr(sys, "stdin", Slow())
    answer = dead("requeue", "--kind", "mail")
    assert answer.status == 1
    assert "4 jobs match, and 3 were confirmed: nothing was done" in answer.err
    assert len(dead("list", "--json").json) == 4


def test_many_are_decided_on_in_rounds(dead: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crontick.handler.cli.many.AT_ONCE", 2)
    answer = dead("requeue", "--all", "--yes", "--per-minute", "1", "--json")
    assert answer.json == {"action": "requeue", "matched": 4, "done": 4}
    assert "2 of 4\n" in answer.err


@pytest.mark.parametrize("chosen", ["", "1 --all", "--all --kind mail", "--all --payload {}"])
def test_which_ones_is_said_in_one_way(dead: Command, chosen: str) -> None:
    assert dead("requeue", *chosen.split(), "--yes").status == 2
    assert len(dead("list", "--json").json) == 4


@pytest.mark.parametrize(
    ("words", "said", "left"),
    [
        (["cancel", "--kind", "greet"], "jobs that match: 2; cancelled or asked to stop: 2", ["failed"]),
        (["cancel", "--status", "failed"], "jobs that match: 1; cancelled or asked to stop: 1", ["queued", "queued"]),
        (["run-now", "--all"], "jobs that match and are not due: 2; due at once: 2", ["failed", "queued", "queued"]),
        (
            ["run-now", "--error", "world"],
            "jobs that match and are not due: 1; due at once: 1",
            ["failed"] + 2 * ["queued"],
        ),
    ],
)
def test_all_unfinished_that_match_are_cancelled_or_hurried(
    cli: Command, words: list[str], said: str, left: list[str]
) -> None:
    cli("enqueue", "stumble")
    cli("tick")
    cli("enqueue", "greet")
    cli("enqueue", "greet", "--in", "2h")
    refused = cli(*words)
    assert (refused.status, refused.err) == (
        2,
        f"{said.partition(';')[0]}; nothing was done: `--yes` confirms that count\n",
    )
    assert cli(*words, "--yes", "--by", "ada", "--reason", "a test").out == f"{said}\n"
    unfinished = [row["status"] for row in cli("jobs", "--json").json if row["finished_at"] is None]
    assert sorted(unfinished) == left
