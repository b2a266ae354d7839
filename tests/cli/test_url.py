"""With ``--url`` a command asks a deployment instead of a database, and says the same."""

import os
import re
from collections.abc import Iterator

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from crontick.handler.front import front_door
from crontick.jobs.deployment import load_deployment
from crontick.jobs.settings import Settings
from tests.cli.conftest import Answer, Command
from tests.door.serving import ADMIN, served
from tests.worlds.http_receiver import HttpReceiver

LENGTHS = r"\"now\": \"[^\"]*\"|\d+(\.\d+)?(?=[,}])|\b\d+[smh]\b( \d+[smh]\b)?"
"""What differs from moment to moment: now, and lengths of time."""


@pytest.fixture
def url(cli: Command, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Where the command line's own deployment is served."""
    monkeypatch.setenv("CRONTICK_ADMIN_SECRET", ADMIN)
    settings = Settings.from_environ(os.environ)
    deployment = load_deployment(settings)
    with served(front_door(settings, lambda: deployment)) as (host, port):
        yield f"http://{host}:{port}"


@pytest.fixture
def there(cli: Command, url: str, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Runs a command that has no database, but that URL."""

    def command(*arguments: str) -> Answer:
        with monkeypatch.context() as without:
            without.delenv("CRONTICK_DATABASE_URL")
            return cli(*arguments, "--url", url)

    return command


def work(cli: Command) -> None:
    """Jobs of every sort: 1 dead, 2 in doubt, 3 failed, 4 succeeded, 5 later, 6 and 7 of one group."""
    cli("enqueue", "break_at_once", '{"name": "Ada"}')
    cli("enqueue", "mail", '{"key": "receipt:42"}')
    cli("enqueue", "stumble", '{"name": "Bob"}')
    cli("enqueue", "greet")
    cli("enqueue", "greet", "--in", "2h")
    cli("pause", "queue", "slow", "--by", "ann")
    cli("breakers", "open", "https://crm.example/hook", "--by", "ann", "--reason", "theirs")
    cli("tick")
    for _ in range(2):
        cli("enqueue", "stumble", "--group", "g")
    cli("tick")


@pytest.mark.parametrize("form", [[], ["--json"]], ids=["lines", "json"])
@pytest.mark.parametrize(
    "arguments",
    [
        ["jobs"],
        ["jobs", "--status", "dead", "--error", "greeted"],
        ["jobs", "--group", "g", "--limit", "2000"],
        ["jobs", "--kind", "none"],
        ["show", "1"],
        ["show", "4"],
        ["why", "3"],
        ["dead", "list"],
        ["dead", "errors"],
        ["dead", "show", "1"],
        ["doubts", "list"],
        ["status"],
        ["ticks"],
        ["ticks", "--triggers"],
        ["groups"],
        ["limits"],
        ["breakers"],
        ["schedules", "list"],
    ],
    ids=" ".join,
)
def test_what_is_read_is_the_same(cli: Command, there: Command, arguments: list[str], form: list[str]) -> None:
    work(cli)
    here, told = cli(*arguments, *form), there(*arguments, *form)
    assert re.sub(LENGTHS, "", told.out) == re.sub(LENGTHS, "", here.out)
    assert (told.status, re.sub(LENGTHS, "", told.err)) == (here.status, re.sub(LENGTHS, "", here.err))


def test_what_is_decided_about_many_is_done_there(cli: Command, there: Command) -> None:
    work(cli)
    asked = there("dead", "requeue", "--kind", "break_at_once")
    assert (asked.status, asked.err.startswith("dead jobs that match: 1;")) == (2, True)
    assert there("dead", "requeue", "--kind", "break_at_once", "--yes").out == "dead jobs that match: 1; requeued: 1\n"
    assert (
        there("dead", "ignore", "--all", "--yes", "--reason", "a test").out == "dead jobs that match: 0; ignored: 0\n"
    )


def test_what_is_decided_is_done_there(cli: Command, there: Command) -> None:
    work(cli)
    edited = there("dead", "requeue", "1", "--payload", '{"name": "Eve"}', "--by", "ann", "--json").json
    assert cli("show", str(edited["requeued_as"]), "--json").json["payload"] == {"name": "Eve"}
    assert there("cancel", str(edited["requeued_as"]), "--by", "ann").out.endswith("is cancelled\n")
    assert there("run-now", "5").out == "job 5 is due at once: the next tick tries it\n"
    assert there("run-now", "4").status == 1
    assert there("doubts", "sent", "mail", "receipt:42", "--reason", "asked").out == "mail receipt:42: sent\n"
    assert there("pause", "all").out == "all: paused\n"
    assert there("resume", "all").out == "all: resumed\n"
    cli("enqueue", "greet", "--queue", "late", "--in", "3h")
    hurried = there("run-now", "--queue", "late", "--yes", "--by", "ann").out
    assert hurried == "jobs that match and are not due: 1; due at once: 1\n"
    assert there("breakers", "close", "https://crm.example/hook").out == "https://crm.example/hook: closed\n"
    assert there("dead", "list").out == ""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["show", "99"], "there is no job 99: finished jobs are kept for a time only"),
        (["why", "99"], "there is no job 99"),
        (["cancel", "99"], "there is no job 99"),
        (["dead", "requeue", "4"], "job 4 is succeeded, only dead jobs are requeued"),
        (["schedules", "run", "nightly"], "there is no schedule nightly"),
        (["resume", "queue", "mail"], "queue mail is not paused"),
    ],
    ids=" ".join,
)
def test_what_was_refused_there_is_said_here(cli: Command, there: Command, arguments: list[str], said: str) -> None:
    work(cli)
    answer = there(*arguments)
    assert (answer.status, said in answer.err) == (1, True)


def test_another_secret_opens_nothing_and_is_not_shown(there: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    other = "b92d6f108e3c54a79f2e0d8b6c4e3a25"
    monkeypatch.setenv("CRONTICK_ADMIN_SECRET", other)
    answer = there("jobs")
    assert (answer.status, "not one of this deployment's" in answer.err) == (1, True)
    assert other not in answer.err


@pytest.mark.parametrize(
    ("url", "status", "said"),
    [
        ("http://127.0.0.1:1", 1, "127.0.0.1:1 does not answer (ConnectError)"),
        ("http://93.184.216.34", 2, "in plain http"),
        ("https://ann:hunter22@app.example", 2, "holds a user or password"),
        ("https://app.example?token=1", 2, "where crontick's routes are"),
        ("app.example", 2, "https://app.example/crontick of an app that has it inside"),
    ],
)
def test_a_url_that_the_secret_must_not_go_to_is_refused(
    bare: Command, monkeypatch: pytest.MonkeyPatch, url: str, status: int, said: str
) -> None:
    monkeypatch.setenv("CRONTICK_ADMIN_SECRET", ADMIN)
    answer = bare("jobs", "--url", url)
    assert (answer.status, said in answer.err, "hunter22" in answer.err) == (status, True, False)


def test_without_a_secret_nothing_is_asked(bare: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CRONTICK_ADMIN_SECRET", raising=False)
    answer = bare("jobs", "--url", "http://127.0.0.1:1")
    assert (answer.status, "CRONTICK_ADMIN_SECRET is not set" in answer.err) == (2, True)


def test_something_else_at_that_url_is_told_from_crontick(
    bare: Command, monkeypatch: pytest.MonkeyPatch, http_receiver: HttpReceiver
) -> None:
    monkeypatch.setenv("CRONTICK_ADMIN_SECRET", ADMIN)
    answer = bare("jobs", "--url", http_receiver.url)
    assert (answer.status, "is that where its routes are?" in answer.err) == (1, True)


async def nothing_there(_request: Request) -> Response:
    return JSONResponse({"detail": "Not Found"}, status_code=404)


def test_a_path_beside_the_routes_is_told_with_both_examples(
    cli: Command, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Crontick's own server under /crontick, and an app that has crontick elsewhere."""
    examples = "--url is https://app.example of crontick's own server, https://app.example/crontick of an app that"
    with served(Starlette(routes=[Route("/{path:path}", nothing_there)])) as (host, port):
        for wrong in (f"{url}/crontick", f"http://{host}:{port}"):
            answer = cli("jobs", "--url", wrong)
            assert (answer.status, examples in answer.err) == (1, True), answer.err
