"""Jobs are enqueued, looked at and changed from the command line."""

import io

import psycopg
import pytest

from tests.cli.conftest import Command


def enqueued(cli: Command, *arguments: str) -> str:
    answer = cli("enqueue", *arguments)
    assert answer.status == 0, answer.err
    return answer.out.strip()


def test_a_job_is_enqueued_listed_run_and_shown(cli: Command) -> None:
    job = enqueued(cli, "greet", '{"name": "Ada"}')
    [line] = cli("jobs").lines
    assert line[:4] == [job, "greet", "default", "queued"]
    assert cli("tick").status == 0
    shown = cli("show", job, "--json").json
    assert (shown["status"], shown["payload"], shown["result"]) == ("succeeded", {"name": "Ada"}, "hello Ada")
    assert cli("why", job).out.startswith("succeeded at ")


def test_a_payload_is_read_from_stdin(cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO('{"name": "Grace"}'))
    job = enqueued(cli, "greet", "-")
    assert cli("show", job, "--json").json["payload"] == {"name": "Grace"}


@pytest.mark.parametrize(
    ("payload", "status", "said"),
    [
        ('{"name": "Ada", "name": "Grace"}', 0, ""),
        ('\ufeff{"name": "Ada"}', 2, "BOM"),
        ('{"name": "' + "x" * 2**24 + '"}', 1, "65536 are allowed"),
        ('{"' + "k" * 70_000 + '": 1}', 1, "65536 are allowed"),
    ],
)
def test_odd_payloads_are_taken_or_refused_in_a_sentence(
    cli: Command, monkeypatch: pytest.MonkeyPatch, payload: str, status: int, said: str
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(payload))
    answer = cli("enqueue", "greet", "-")
    assert (answer.status, said in answer.err, len(answer.err) < 1000) == (status, True, True)
    if status == 0:
        assert cli("show", answer.out.strip(), "--json").json["payload"] == {"name": "Grace"}


OPTIONS = [
    (["--queue", "slow"], "queue", "slow"),
    (["--priority", "-7"], "priority", -7),
    (["--max-attempts", "2"], "max_attempts", 2),
    (["--group", "invoice:7"], "group_key", "invoice:7"),
    (["--unique-key", "a"], "unique_key", "a"),
    (["--run-at", "2027-01-01T00:00:00+01:00"], "run_at", "2026-12-31T23:00:00Z"),
    (["--expires-at", "2027-01-01T00:00:00Z"], "expires_at", "2027-01-01T00:00:00Z"),
]


def test_every_option_of_enqueue_reaches_the_job(cli: Command) -> None:
    for arguments, field, value in OPTIONS:
        job = enqueued(cli, "greet", *arguments)
        assert cli("show", job, "--json").json[field] == value


def test_a_taken_unique_key_answers_with_the_job_that_has_it(cli: Command) -> None:
    first = enqueued(cli, "greet", "--unique-key", "a")
    assert enqueued(cli, "greet", "--unique-key", "a") == first
    assert enqueued(cli, "greet", "--unique-key", "b") != first


def test_an_unknown_kind_is_enqueued_with_a_warning(cli: Command) -> None:
    answer = cli("enqueue", "greeet")
    assert (answer.status, "greeet" in answer.err) == (0, True)
    assert answer.err.startswith("warning: ")
    assert "`crontick migrate`" in answer.err


def test_jobs_are_filtered_and_paged(cli: Command) -> None:
    ids = [enqueued(cli, "greet", "--queue", queue) for queue in ("a", "b", "a")]
    assert [row["id"] for row in cli("jobs", "--queue", "a", "--json").json] == [int(ids[2]), int(ids[0])]
    assert [row["id"] for row in cli("jobs", "--limit", "1", "--below", ids[2], "--json").json] == [int(ids[1])]
    assert cli("jobs", "--status", "dead", "--json").json == []
    assert cli("jobs", "--status", "dead").err == "no job is like that\n"
    cli("tick")  # it makes the kinds known
    unknown = "no job is like that: no deployment knows the kind gret (did you mean greet?)\n"
    assert cli("jobs", "--kind", "gret").err == unknown


def test_a_job_is_cancelled_with_who_and_why(cli: Command) -> None:
    first, second = enqueued(cli, "greet"), enqueued(cli, "greet")
    answer = cli("cancel", first, second, "--by", "ada", "--reason", "a mistake")
    assert answer.out.splitlines() == [f"job {first} is cancelled", f"job {second} is cancelled"]
    assert "a mistake" in cli("why", first).out


@pytest.mark.parametrize(
    ("kind", "said"), [("greet", "(succeeded), and nothing"), ("break_at_once", "`crontick dead ignore")]
)
def test_a_job_that_is_over_is_not_cancelled(cli: Command, kind: str, said: str) -> None:
    job, later = enqueued(cli, kind), enqueued(cli, "greet", "--in", "2h")
    cli("tick")
    answer = cli("cancel", job, later)
    assert (answer.status, said in answer.out) == (1, True)
    assert cli("cancel", later).out == f"job {later} is cancelled\n"


def test_a_future_job_is_run_now(cli: Command) -> None:
    job = enqueued(cli, "greet", "--in", "2h")
    assert cli("tick", "--json").json["claimed"] == 0
    assert cli("run-now", job, "--json").json == {"job": int(job), "status": "queued"}
    assert cli("tick", "--json").json["succeeded"] == 1


def test_a_failed_job_that_is_hurried_is_due_at_once(cli: Command) -> None:
    job = enqueued(cli, "stumble")
    assert cli("tick", "--json").json["failed"] == 1
    again = "tries it again (an attempt failed, and more are left)"
    assert cli("run-now", job).out == f"job {job} is due at once: the next tick {again}\n"


def test_what_holds_a_job_is_told_to_who_hurries_it(cli: Command) -> None:
    first, second = (enqueued(cli, "greet", "--group", "g") for _ in "ab")
    cli("pause", "kind", "greet")
    assert "kind greet is paused" in cli("run-now", first).out
    cli("resume", "kind", "greet")
    assert cli("tick", "--limit", "1", "--json").json["succeeded"] == 1
    assert f"job {second} has its time now, and is held: is next in line of group g" in cli("run-now", second).out


@pytest.mark.parametrize(
    ("kind", "said"),
    [("break_at_once", "dead), and nothing was changed: `crontick dead requeue"), ("greet", "succeeded")],
)
def test_a_job_that_is_over_cannot_be_hurried(cli: Command, kind: str, said: str) -> None:
    job = enqueued(cli, kind)
    cli("tick")
    answer = cli("run-now", job)
    assert (answer.status, said in answer.out) == (1, True)
    assert cli("run-now", job, "--json").json["status"] in said


@pytest.mark.parametrize("command", ["show", "why", "cancel", "run-now"])
def test_a_job_that_is_not_there_is_something_wrong(cli: Command, command: str) -> None:
    answer = cli(command, "999999")
    assert answer.status == 1
    assert "there is no job 999999" in answer.out + answer.err


@pytest.mark.parametrize(
    "arguments",
    [
        ["enqueue"],
        ["enqueue", "greet", "{bad"],
        ["enqueue", "greet", "--run-at", "tomorrow"],
        ["enqueue", "greet", "--run-at", "2027-01-01T00:00:00"],
        ["enqueue", "greet", "--in", "2 hours"],
        ["enqueue", "greet", "--in", "2h", "--run-at", "2027-01-01T00:00:00Z"],
        ["enqueue", "greet", "--on-conflict", "replce"],
        ["enqueue", "greet", "--priority", "101"],
        ["show", "0"],
        ["show", "x"],
        ["jobs", "--limit", "0"],
        ["jobs", "--status", "foo"],
        ["cancel", "--status", "dead"],
        ["nonsense"],
        ["pause", "everything"],
        ["pause", "queue"],
        ["pause", "all", "x"],
        ["tick", "--limit", "0"],
        ["tick", "--limit", "some"],
        ["tick", "--queue", "Mail"],
        ["tick", "--job", "0"],
        ["tick", "--budget", "1000h"],
        ["dead", "ignore", "1"],
        ["dead", "requeue", "1", "--payload", "{bad"],
        ["status", "--max-age", "soon"],
        ["reminders", "preview", "nonsense"],
    ],
)
def test_a_command_that_is_called_wrongly_says_so(
    bare: Command, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    monkeypatch.setenv("CRONTICK_DATABASE_URL", "postgresql://127.0.0.1:1/nobody-asks-it")
    answer = bare(*arguments)
    assert answer.status == 2
    assert answer.out == ""
    assert answer.err


def test_control_characters_in_data_never_reach_a_terminal(cli: Command, database: str) -> None:
    nasty = "\x1b[31mred\x07 \x9b2J\u202egnp"
    with psycopg.connect(database, autocommit=True) as conn:
        conn.execute(
            "select crontick.enqueue('greet', jsonb_build_object('name', %s::text), group_key => %s)", (nasty, nasty)
        )
    for answer in (cli("jobs"), cli("show", "1"), cli("jobs", "--json"), cli("show", "1", "--json")):
        assert not set("\x1b\x07\x9b\u202e") & set(answer.out)


def test_a_payload_that_python_cannot_hold_is_shown_as_text(cli: Command, database: str) -> None:
    with psycopg.connect(database, autocommit=True) as conn:
        conn.execute("""select crontick.enqueue('greet', '{"n": 1e4300}')""")
    payload = cli("show", "1", "--json").json["payload"]
    assert payload.startswith('{"n": 1000')
