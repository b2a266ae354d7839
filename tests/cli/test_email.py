"""`crontick email render` shows a mail before anybody gets it, and `crontick check` what is wrong with all of them."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Command

CONFIG = '[email]\nurl_env = "SMTP_URL"\nfrom = "Acme <hi@acme.example>"\n'
RESEND = '[email]\nprovider = "resend"\napi_key_env = "RESEND_API_KEY"\nfrom = "Acme <hi@acme.example>"\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the command runs, with a template."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "crontick.toml").write_text(CONFIG)
    (tmp_path / "templates").mkdir()
    (tmp_path / "attachments").mkdir()
    (tmp_path / "templates" / "hello.subject.txt").write_text("Hi {{ name }}\n")
    (tmp_path / "templates" / "hello.txt").write_text("Dear {{ name }}")
    return tmp_path


def mail(**fields: Any) -> str:
    return json.dumps({"to": "ann@example.com", "template": "hello", "data": {"name": "Ann"}, **fields})


def test_a_mail_is_shown_as_it_would_go_out(bare: Command, folder: Path) -> None:
    (folder / "attachments" / "a.txt").write_text("enclosed")
    answer = bare("email", "render", mail(attachments=[{"file": "a.txt"}], bcc=["eve@example.net"]))
    assert answer.status == 0
    for line in (
        'From: "Acme" <hi@acme.example>',
        "To: ann@example.com",
        "Subject: Hi Ann",
        "Dear Ann",
        "ZW5jbG9zZWQ=",
    ):
        assert line in answer.out.splitlines()
    assert "eve" not in answer.out


def test_in_json_its_envelope_and_its_template_s_version_are_told(bare: Command, folder: Path) -> None:
    first = bare("email", "render", "--json", mail(bcc=["eve@example.net"])).json
    assert (first["from"], first["recipients"]) == ("hi@acme.example", ["ann@example.com", "eve@example.net"])
    assert (first["template"], len(first["version"])) == ("hello", 16)
    (folder / "templates" / "hello.txt").write_text("Dear {{ name }}!")
    second = bare("email", "render", "--json", mail()).json
    assert second["version"] != first["version"]
    assert second["content_hash"] != first["content_hash"]


def test_for_resend_it_is_the_request(bare: Command, folder: Path) -> None:
    (folder / "crontick.toml").write_text(RESEND)
    assert bare("email", "render", mail()).json == {
        "from": '"Acme" <hi@acme.example>',
        "to": ["ann@example.com"],
        "subject": "Hi Ann",
        "text": "Dear Ann",
    }


@pytest.mark.parametrize(
    ("payload", "status", "said"),
    [
        ("{", 2, "JSON"),
        ('{"to": "ann@example.com"}', 2, "give template, or subject"),
        (mail(data={}), 1, "'name' is undefined"),
        (mail(template="gone"), 1, "the folder templates needs gone.subject.txt"),
        (mail(to="ann@example.com\nBcc: eve@example.net"), 1, "to is no mail address"),
        (mail(attachments=[{"file": "none"}]), 1, "no such attachment"),
    ],
)
def test_what_would_not_go_out_is_told(bare: Command, folder: Path, payload: str, status: int, said: str) -> None:
    answer = bare("email", "render", payload)
    assert (answer.status, said in answer.err, answer.out) == (status, True, "")


def test_no_control_character_reaches_the_terminal(bare: Command, folder: Path) -> None:
    (folder / "crontick.toml").write_text(RESEND)
    answer = bare("email", "render", mail(data={"name": "\x9b31mAnn"}, subject="Hi"))
    assert answer.status == 0
    assert "\x9b" not in answer.out


def test_without_email_in_the_configuration_there_is_nothing_to_show(bare: Command, folder: Path) -> None:
    (folder / "crontick.toml").write_text("")
    answer = bare("email", "render", mail())
    assert (answer.status, "has no [email]" in answer.err) == (1, True)


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("bad.txt", "{% if %}", "templates/bad.txt, line 1: it is no Jinja template"),
        ("alone.subject.txt", "Hi", "templates/alone.subject.txt has neither alone.txt nor alone.html beside it"),
        ("a b.subject.txt", "Hi", "a b is no name that a payload can give"),
    ],
)
def test_check_finds_templates_that_no_mail_can_be_made_of(
    bare: Command, folder: Path, monkeypatch: pytest.MonkeyPatch, file: str, text: str, said: str
) -> None:
    monkeypatch.setenv("SMTP_URL", "smtp://127.0.0.1:25")
    assert "templates" not in bare("check", "--offline").out
    (folder / "templates" / file).write_text(text)
    answer = bare("check", "--offline")
    assert (answer.status, said in answer.out) == (1, True)


@pytest.mark.parametrize(
    ("line", "url", "said"),
    [
        ("", "smpt://x", "SMTP_URL is no mail server's URL"),
        ('templates = "mails"', "smtp://x", "[email] templates names mails, and there is no such folder"),
        ('attachments = "files"', "smtp://x", "[email] attachments names files, and there is no such folder"),
        ('headers = ["Bcc"]', "smtp://x", "headers are names that begin with X-"),
    ],
)
def test_check_looks_at_what_the_configuration_says_of_mail(
    bare: Command, folder: Path, monkeypatch: pytest.MonkeyPatch, line: str, url: str, said: str
) -> None:
    monkeypatch.setenv("SMTP_URL", url)
    (folder / "crontick.toml").write_text(CONFIG + line)
    answer = bare("check", "--offline")
    assert (answer.status, said in answer.out) == (1, True)
