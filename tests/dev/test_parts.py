"""What ``crontick dev`` puts together: the environment of the app, the files it follows, the lines it writes."""

import json
import re
import tomllib
from email.message import EmailMessage
from pathlib import Path

import pytest

from crontick.handler.dev.database import Database
from crontick.handler.dev.environ import environ_for_app, found_modules
from crontick.handler.dev.folder import Folder, held
from crontick.handler.dev.lines import Lines
from crontick.handler.dev.mails import teller
from crontick.handler.dev.refused import DevRefused
from crontick.handler.dev.tracebacks import told
from crontick.handler.dev.watch import changed, look
from crontick.jobs.config import read_config

EMBEDDED = Database("postgresql://embedded", "dev", embedded=True, where="here")
GIVEN = Database("postgresql://given", "staging", embedded=False, where="there")
SINK = "smtp://127.0.0.1:2525"


def environ(tmp_path: Path, base: dict[str, str], database: Database = EMBEDDED) -> dict[str, str]:
    return environ_for_app(base, database, Folder(tmp_path, "t" * 64), SINK)


def test_the_app_is_told_of_the_embedded_database_under_both_names(tmp_path: Path) -> None:
    base = {"CRONTICK_MIGRATE_URL": "postgresql://other", "CRON_SECRET_FROM": "file:/x", "HOME": "/home/ada"}
    made = environ(tmp_path, base)
    assert made["DATABASE_URL"] == made["CRONTICK_DATABASE_URL"] == "postgresql://embedded"
    assert (made["CRONTICK_MIGRATE_URL"], made["CRON_SECRET_FROM"], made["HOME"]) == ("", "", "/home/ada")
    assert (made["CRON_SECRET"], made["CRONTICK_ENVIRONMENT"]) == ("t" * 64, "dev")
    assert made["CRONTICK_ADMIN_SECRET"] not in ("", "t" * 64)
    assert "CRONTICK_ADMIN_SECRET" not in environ(tmp_path, {"CRONTICK_ADMIN_SECRET_FROM": "file:/x"})


def test_a_database_that_was_given_stays_as_it_was_given(tmp_path: Path) -> None:
    made = environ(tmp_path, {"DATABASE_URL": "postgresql+asyncpg://given"}, GIVEN)
    assert (made["DATABASE_URL"], made["CRONTICK_ENVIRONMENT"]) == ("postgresql+asyncpg://given", "staging")
    assert "CRONTICK_DATABASE_URL" not in made


@pytest.mark.parametrize("taken", ["", "lock", ".gitignore"])
def test_something_else_in_the_place_of_its_folder_is_named(tmp_path: Path, taken: str) -> None:
    path = tmp_path / ".crontick" / taken
    if taken:
        path.mkdir(parents=True)
    else:
        path.write_text("theirs")
    with (
        pytest.raises(DevRefused, match=rf"{re.escape(str(path))} cannot be written \(.+\): .* move away"),
        held(tmp_path),
    ):
        pass


@pytest.mark.parametrize("text", ["", "strict_kinds = true", "[retention]\nsucceeded = '2d'\n"])
def test_a_configuration_without_mail_gets_the_sink(tmp_path: Path, text: str) -> None:
    config = tmp_path / "theirs.toml"
    config.write_text(text)
    made = environ(tmp_path, {"CRONTICK_CONFIG": str(config), "SMTP_URL": "smtp://real.example"})
    completed = Path(made["CRONTICK_CONFIG"]).read_text()
    assert {**tomllib.loads(text), "email": tomllib.loads(completed)["email"]} == tomllib.loads(completed)
    email = read_config(completed).email
    assert email is not None
    assert made[email.secret_name] == SINK
    assert config.read_text() == text


def test_a_configuration_with_mail_keeps_all_but_the_server(tmp_path: Path) -> None:
    config = tmp_path / "theirs.toml"
    config.write_text('[email]\nurl_env = "MAIL_URL"\nfrom = "Acme <hi@acme.example>"\n')
    base = {"CRONTICK_CONFIG": str(config), "MAIL_URL": "smtp://real.example", "MAIL_URL_FROM": "file:/x"}
    made = environ(tmp_path, base)
    assert (made["CRONTICK_CONFIG"], made["MAIL_URL"], made["MAIL_URL_FROM"]) == (str(config), SINK, "")


def test_mail_that_would_leave_by_an_api_ends_in_the_sink_too(tmp_path: Path) -> None:
    before, after = "strict_kinds = true\n", '[retention]\nsucceeded = "2d"\n'
    api = (
        '[email]\nprovider = "resend"\napi_key_env = "RESEND_KEY"\nfrom = ["Zoë <z@acme.example>", "b@acme.example"]\n'
    )
    config = tmp_path / "theirs.toml"
    config.write_text(before + api + after, "utf-8")
    made = environ(tmp_path, {"CRONTICK_CONFIG": str(config), "RESEND_KEY": "re_real"})
    read = read_config(Path(made["CRONTICK_CONFIG"]).read_text("utf-8"))
    assert read.email is not None
    assert (read.email.provider, made[read.email.secret_name], made["RESEND_KEY"]) == ("smtp", SINK, "")
    assert read.email.senders == ("Zoë <z@acme.example>", "b@acme.example")
    assert (read.strict_kinds, read.retention.succeeded.days) == (True, 2)


@pytest.mark.parametrize(
    ("files", "app", "modules"),
    [
        (["background.py"], None, "background"),
        (["background.py"], "acme.main:app", "background"),
        (["acme/background.py", "background.py"], "acme.main:app", "acme.background"),
        (["acme/background.py"], None, ""),
        ([], "main:app", ""),
    ],
)
def test_the_module_with_the_kinds_is_found(tmp_path: Path, files: list[str], app: str | None, modules: str) -> None:
    for name in files:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert found_modules(tmp_path, app) == modules


def test_code_and_configuration_are_followed_and_nothing_else(tmp_path: Path) -> None:
    for name in ("a.py", "crontick.toml", "acme/b.py", "c.txt", ".crontick/d.py", "venv/pyvenv.cfg", "venv/lib/e.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    before = look(tmp_path)
    assert {str(Path(path).relative_to(tmp_path)) for path in before} == {"a.py", "crontick.toml", "acme/b.py"}
    (tmp_path / "a.py").write_text("x = 1")
    (tmp_path / "acme" / "b.py").unlink()
    (tmp_path / "new.py").touch()
    assert [Path(path).name for path in changed(before, look(tmp_path))] == ["a.py", "b.py", "new.py"]


def test_no_line_moves_the_cursor_or_begins_another(capsys: pytest.CaptureFixture[str]) -> None:
    mail = EmailMessage()
    mail["to"], mail["subject"] = "ada@users.example", "\x1b[2JHi"
    mail.set_content("one\x07\n\n" + "x" * 300 + "\rtwo\nthree\nfour\n")
    teller(Lines(), whole=False)(mail)
    head, *text = capsys.readouterr().out.splitlines()
    assert head.endswith(" mail    to ada@users.example: [2JHi")
    assert text == ["         | one", f"         | {'x' * 100}…", "         | two", "         | …"]
    teller(Lines(as_json=True), whole=True)(mail)
    whole = json.loads(capsys.readouterr().out)
    assert (whole["subject"], whole["text"].splitlines()[-1]) == ("\x1b[2JHi", "four")


def test_a_mail_without_text_is_told_as_such(capsys: pytest.CaptureFixture[str]) -> None:
    mail = EmailMessage()
    mail["to"], mail["subject"], mail["content-type"] = "ada@users.example", "Report", "application/pdf"
    teller(Lines(), whole=False)(mail)
    assert "(no text: application/pdf)" in capsys.readouterr().out


def test_a_traceback_has_the_authors_frames_alone() -> None:
    try:
        int("x")
    except ValueError as error:
        lines = told(error).splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert "test_a_traceback_has_the_authors_frames_alone" in lines[1]
