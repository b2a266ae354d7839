"""Before the first tick: migrate, check, and what is said when something is missing."""

import os
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest

from crontick.sql.extras import install
from tests.cli.conftest import Command
from tests.worlds.process import Processes

HIDES = """
import sys
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name == "typer":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Hidden())
from crontick.handler.cli import main
main()
"""


def test_the_bare_script_names_the_extra_that_is_missing() -> None:
    run = subprocess.run([sys.executable, "-c", HIDES], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (2, f"the command line needs typer: {install('cli')}\n")


def test_the_development_server_says_how_to_install_what_it_lacks_from_a_checkout_too(
    bare: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "aiosmtpd", None)
    answer = bare("dev")
    said = "crontick dev needs aiosmtpd: pip install 'crontick[dev]' (from a checkout: pip install '.[dev]')\n"
    assert (answer.status, answer.err) == (2, said)


def test_a_migrated_database_has_nothing_missing(cli: Command) -> None:
    assert cli("migrate", "--check").status == 0
    told = cli("migrate", "--json").json
    assert (told["ran"], told["schedules"], "greet" in told["kinds"]) == ([], [], True)


def test_what_would_run_is_told_and_fails_the_check(cli: Command, database: str) -> None:
    with psycopg.connect(database, autocommit=True) as conn:
        conn.execute("update crontick.ledger set sha256 = 'another' where name = 'views/jobs.sql'")
    assert cli("migrate", "--plan").out == "would run views/jobs.sql\n"
    assert cli("migrate", "--check").status == 1
    assert cli("migrate").out.splitlines()[0] == "ran views/jobs.sql"
    assert cli("migrate", "--check").status == 0


def test_migrations_are_named_and_what_they_bring_along_is_counted(
    bare: Command, raw_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRONTICK_DATABASE_URL", raw_database)
    names = bare("migrate", "--plan", "--json").json["would_run"]
    migrations = [name for name in names if name.startswith("migrations/")]
    short = [*(f"ran {name}" for name in migrations), f"and {len(names) - len(migrations)} functions and views"]
    assert bare("migrate", "--plan", "--verbose").out.splitlines() == [f"would run {name}" for name in names]
    assert bare("migrate").out.splitlines()[:-2] == short
    with psycopg.connect(raw_database, autocommit=True) as conn:
        conn.execute("update crontick.ledger set sha256 = 'another' where name like 'views/%'")
        views = [name for name in names if name.startswith("views/")]
    assert bare("migrate", "--plan").out == f"would run {len(views)} functions and views\n"
    assert bare("migrate", "--verbose").out.splitlines()[:-2] == [f"ran {name}" for name in views]


@pytest.mark.parametrize(
    ("name", "value"), [("CRONTICK_MODULES", "tests.cli.nowhere"), ("CRONTICK_CONFIG", "strict_kind = true")]
)
def test_a_migration_counts_also_when_the_kinds_cannot_be_made_known(
    cli: Command, database: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, value: str
) -> None:
    config = tmp_path / "wrong.toml"
    config.write_text(value)
    monkeypatch.setenv(name, value if name == "CRONTICK_MODULES" else str(config))
    with psycopg.connect(database, autocommit=True) as conn:
        conn.execute("update crontick.ledger set sha256 = 'another' where name = 'views/jobs.sql'")
    answer = cli("migrate")
    assert (answer.status, answer.out) == (1, "ran views/jobs.sql\n")
    assert answer.err.startswith("the schema is up to date; the kinds could not be made known: ")
    assert value.partition(" ")[0] in answer.err
    assert cli("migrate", "--check").status == 0


def test_migrate_makes_the_kinds_known_so_that_any_language_may_enqueue(cli: Command, database: str) -> None:
    cli("migrate")
    with psycopg.connect(database, autocommit=True) as conn:
        known = conn.execute("select name from crontick.kinds where name = 'greet'").fetchall()
    assert known == [("greet",)]


def test_migrate_says_what_it_put_in_force(
    cli: Command, database: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    config = tmp_path / "crontick.toml"
    config.write_text('[[schedule]]\nname = "nightly"\ncron = "0 3 * * *"\nkind = "greet"\n')
    monkeypatch.setenv("CRONTICK_CONFIG", str(config))
    first, kinds, schedules = cli("migrate").out.splitlines()
    assert (first, schedules) == ("nothing was missing", "schedules in force: nightly")
    assert re.fullmatch(r"known to whoever enqueues: \d+ kinds", kinds)
    with psycopg.connect(database) as conn:
        conn.execute("select from crontick.declared_schedules for update")
        answer = cli("migrate")
    assert (answer.status, "another transaction holds a schedule" in answer.err) == (1, True)
    assert "in force" not in answer.out


def test_the_schema_is_printed_without_a_database(bare: Command) -> None:
    answer = bare("migrate", "--sql")
    assert answer.status == 0
    assert answer.out.startswith("begin;\n")


def test_the_test_clock_is_refused_in_production(bare: Command, database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRONTICK_DATABASE_URL", database)
    answer = bare("migrate", "--test-clock")
    assert (answer.status, "production" in answer.err) == (1, True)


def test_a_refused_login_is_told_in_our_words(cli: Command, server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    role = "the database has no such role: create it, or see CRONTICK_DATABASE_URL"
    there_is_none = "the server has no such database: create it, or see CRONTICK_DATABASE_URL"
    parts = urlsplit(server)
    nobody = parts._replace(netloc=f"nobody:hidden-word@{parts.netloc.rpartition('@')[2]}")
    for url, said in ((nobody, role), (parts._replace(path="/nodb"), there_is_none)):
        monkeypatch.setenv("CRONTICK_DATABASE_URL", urlunsplit(url))
        for command in ("check", "status", "tick", "doctor"):
            answer = cli(command)
            told = answer.out + answer.err
            what, _, mend = said.partition(": ")
            assert (answer.status, what in told, mend in told) == (1, True, True), told
            assert "hidden-word" not in told
            assert "out of reach, or waking" not in told


def test_all_is_well_with_a_whole_deployment(cli: Command) -> None:
    answer = cli("check")
    assert (answer.status, answer.out.splitlines()[-1]) == (0, "all is well")


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("CRON_SECRET", "", "CRON_SECRET is not set: make one with `openssl rand -hex 32`"),
        ("CRON_SECRET", "undefined", "CRON_SECRET is a placeholder"),
        ("CRONTICK_DATABASE_URL", "", "CRONTICK_DATABASE_URL is not set"),
        (
            "CRONTICK_DATABASE_URL",
            "postgresql://127.0.0.1:1/x",
            "the database is out of reach, or waking: 127.0.0.1, port 1",
        ),
        ("CRONTICK_ENVIRONMENT", "production", 'belongs to the environment "test", not to "production"'),
        ("CRONTICK_MODULES", "tests.cli.nowhere", "tests.cli.nowhere"),
        ("CRONTICK_BUDGET_SECONDS", "5", "greet needs 10 s, and the longest tick leaves"),
    ],
)
def test_what_is_wrong_with_a_deployment_is_found(
    cli: Command, monkeypatch: pytest.MonkeyPatch, name: str, value: str, said: str
) -> None:
    monkeypatch.setenv(name, value)
    answer = cli("check")
    assert answer.status == 1
    assert said in answer.out
    wrong = cli("check", "--json").json
    assert wrong["ok"] is False
    assert any(said in finding["sentence"] for finding in wrong["findings"] if finding["wrong"])


def test_a_variable_that_is_misspelt_is_told_and_those_of_kubernetes_and_tests_are_not(
    cli: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRONTICK_CONCURENCY", "5")
    monkeypatch.setenv("CRONTICK_PORT", "tcp://10.0.0.1:80")
    monkeypatch.setenv("CRONTICK_SERVICE_HOST", "10.0.0.1")
    monkeypatch.setenv("CRONTICK_TEST_DATABASE_URL", "postgresql://localhost/postgres")
    answer = cli("check")
    assert [line for line in answer.out.splitlines() if "heartbeat" not in line] == [
        "- CRONTICK_CONCURENCY is no setting of crontick (did you mean CRONTICK_CONCURRENCY?)",
        "all is well",
    ]


def test_kinds_that_are_offered_without_a_secret_are_told(
    cli: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "crontick.toml"
    config.write_text('[api]\nkinds = ["greet"]\n')
    monkeypatch.setenv("CRONTICK_CONFIG", str(config))
    told = "[api] kinds offers greet, and CRONTICK_ENQUEUE_SECRET is not set"
    assert told in cli("check", "--offline").out
    monkeypatch.setenv("CRONTICK_ENQUEUE_SECRET", "77c1d0aa52e94b3f8d06")
    assert told not in cli("check", "--offline").out


def test_nobody_to_notice_that_no_tick_comes_is_told(
    cli: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "crontick.toml has no [heartbeat]" in cli("check").out
    config = tmp_path / "crontick.toml"
    config.write_text('[heartbeat]\nurl_env = "PING_URL"\n[alerts]\nwebhook_env = "ROOM_URL"\nemail = "a@b.example"\n')
    monkeypatch.setenv("CRONTICK_CONFIG", str(config))
    monkeypatch.setenv("ROOM_URL", "ftp://rooms.example")
    said = cli("check")
    assert said.status == 1
    assert "PING_URL is not set, and [heartbeat] needs it" in said.out
    assert "ROOM_URL, of [alerts]: url must be a whole one" in said.out
    assert "[alerts] email goes out by [email]" in said.out
    assert "has no [heartbeat]" not in said.out


@pytest.mark.parametrize("command", [["jobs"], ["status"], ["tick"], ["migrate"], ["enqueue", "greet"]])
def test_a_command_without_a_database_says_what_is_not_set(bare: Command, command: list[str]) -> None:
    answer = bare(*command)
    assert answer.status == 2
    assert "CRONTICK_DATABASE_URL is not set" in answer.err


@pytest.mark.parametrize(
    "command",
    [
        ["jobs"],
        ["status"],
        ["tick"],
        ["ticks"],
        ["dead", "list"],
        ["migrate"],
        ["migrate", "--check"],
        ["reminders", "preview"],
    ],
)
def test_a_database_out_of_reach_is_told_without_its_password(
    bare: Command, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    monkeypatch.setenv("CRONTICK_DATABASE_URL", "postgresql://app:hunter2@127.0.0.1:1/app")
    monkeypatch.setenv("CRONTICK_BUDGET_SECONDS", "1")
    answer = bare(*command)
    assert (answer.status, answer.err) == (1, "the database is out of reach, or waking: 127.0.0.1, port 1\n")


BROKEN = {
    "a syntax error": ("x = 1\ndef f(:\n", 2, "SyntaxError: invalid syntax"),
    "a module that is not there": (
        "\nimport no_such_thing\n",
        2,
        "ModuleNotFoundError: No module named 'no_such_thing'",
    ),
    "a name that is not there": ("from os import nothing_like_it\n", 1, "ImportError: cannot import name"),
    "a number out of range": (
        'from crontick.jobs import kind\n\n@kind("a", timeout=-1)\ndef f(payload): ...\n',
        3,
        "ValueError: kind a: timeout and needs are positive numbers",
    ),
    "a name that is none": (
        'from crontick.jobs import kind\n\n\n@kind("Send Receipt")\nasync def f(payload): ...\n',
        4,
        "ValueError: kind 'Send Receipt' is no name",
    ),
    "a function without a payload": (
        'from crontick.jobs import kind\n@kind("a")\nasync def f(): ...\n',
        2,
        "TypeError: f takes no payload",
    ),
    "a script that ends": ("raise SystemExit(3)\n", 1, "SystemExit: 3"),
    "a Ctrl-C of its own": ("raise KeyboardInterrupt('no')\n", 1, "KeyboardInterrupt: no"),
    "what is no Exception": ("raise BaseException('no')\n", 1, "BaseException: no"),
    "a cancellation": ("import asyncio\nraise asyncio.CancelledError\n", 2, "CancelledError"),
    "a text of two lines": ("raise OSError('one\\ntwo')\n", 1, "OSError: one two"),
}


@pytest.mark.parametrize("variable", ["CRONTICK_MODULES", "CRONTICK_AROUND"])
@pytest.mark.parametrize("wrong", BROKEN)
def test_a_module_that_cannot_be_imported_is_told_in_one_sentence_with_file_and_line(
    cli: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, wrong: str, variable: str
) -> None:
    source, line, said = BROKEN[wrong]
    name = f"broken_{list(BROKEN).index(wrong)}"
    file = tmp_path / f"{name}.py"
    file.write_text(source)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv(variable, name if variable == "CRONTICK_MODULES" else f"{name}:around")
    answer = cli("check", "--offline")
    [sentence, _] = answer.out.splitlines()
    assert answer.status == 1
    assert sentence.startswith(f"! {variable} names {name}, which cannot be imported: {said}")
    assert sentence.endswith(f"({file}, line {line})")


def test_a_server_whose_module_cannot_be_imported_does_not_start_and_says_where(
    processes: Processes, tmp_path: Path
) -> None:
    (tmp_path / "broken.py").write_text("def f(:\n")
    server = processes.run(
        *("-m", "uvicorn", "crontick.handler.asgi:app", "--port", "0"),
        env={
            "CRONTICK_DATABASE_URL": "postgresql://127.0.0.1:1/x",
            "CRON_SECRET": "3f9b1c0de7a24586b1f0",
            "CRONTICK_MODULES": "broken",
            "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path]),
        },
    )
    assert server.wait() == 1
    assert "Traceback" not in server.errors
    assert f"SyntaxError: invalid syntax ({tmp_path / 'broken.py'}, line 1)" in server.errors


def test_a_database_without_the_schema_says_to_migrate(cli: Command, database: str) -> None:
    with psycopg.connect(database, autocommit=True) as conn:
        conn.execute("drop schema crontick cascade")
    answer = cli("jobs")
    assert (answer.status, "run `crontick migrate`" in answer.err) == (1, True)


def test_a_secret_that_the_configuration_names_and_nobody_set_is_found(
    cli: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "crontick.toml"
    path.write_text('[email]\nurl_env = "MAIL_URL"\nfrom = "a@example.com"\n')
    monkeypatch.setenv("CRONTICK_CONFIG", str(path))
    monkeypatch.delenv("MAIL_URL", raising=False)
    answer = cli("check")
    assert (answer.status, answer.out.splitlines()[-2]) == (
        1,
        "! MAIL_URL is not set, and [email] of crontick.toml needs it",
    )
    monkeypatch.setenv("MAIL_URL", "smtp://127.0.0.1:2525")
    assert cli("check").status == 0


def test_migrate_takes_the_url_that_is_its_own(cli: Command, database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRONTICK_DATABASE_URL", "postgresql://127.0.0.1:1/x")
    monkeypatch.setenv("CRONTICK_MIGRATE_URL", database)
    assert cli("migrate").out.startswith("nothing was missing\n")


def test_a_reminder_whose_query_cannot_run_is_found(
    cli: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    config = tmp_path / "crontick.toml"
    query = "select 1 as item, now() as item_at, null as payload from bookings"
    config.write_text(f'[[reminder]]\nname = "day"\nlead = "1h"\nkind = "greet"\nquery = "{query}"\n')
    monkeypatch.setenv("CRONTICK_CONFIG", str(config))
    answer = cli("check")
    assert (answer.status, 'crontick.toml:5: reminder.query: relation "bookings" does not exist' in answer.out) == (
        1,
        True,
    )
