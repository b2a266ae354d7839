"""No secret leaves in a text, in whatever form it stands there."""

import base64
import io
import json
import logging
from urllib.parse import quote, quote_plus

import pytest

from crontick.jobs.redact import Redactor

SECRET = 'p/w d"ö+1=&x'
DSN = "postgresql://acme:hunter2%2Fpw@db.example:5432/shop"


@pytest.mark.parametrize(
    "form",
    [
        SECRET,
        quote(SECRET, safe=""),
        quote(SECRET),
        quote_plus(SECRET),
        json.dumps(SECRET),
        json.dumps(SECRET, ensure_ascii=False),
        repr(SECRET.encode())[2:-1],
        base64.b64encode(SECRET.encode()).decode(),
        base64.urlsafe_b64encode(SECRET.encode()).decode(),
    ],
)
def test_a_secret_is_found_in_every_form(form: str) -> None:
    assert form.strip('"').rstrip("=") not in Redactor([SECRET])(f"it said {form} again {form}")


@pytest.mark.parametrize("before", ["", "u", "us", "usr", "\0user\0"])
@pytest.mark.parametrize("after", ["", "a", "ab", "abc"])
def test_a_secret_is_found_wherever_it_stands_in_a_text_in_base64(before: str, after: str) -> None:
    whole = base64.b64encode(f"{before}topsecret{after}".encode()).decode()
    said = Redactor(["topsecret"])(whole)
    assert "[redacted]" in said
    assert len(said.replace("[redacted]", "")) <= len(whole) - 10  # of the secret's 12 letters


def test_a_signing_secret_is_found_without_its_prefix() -> None:
    assert Redactor(["whsec_topsecret"])("topsecret, whsec_topsecret") == "[redacted], [redacted]"


@pytest.mark.parametrize("text", [DSN, "password hunter2%2Fpw is wrong", "password hunter2/pw is wrong"])
def test_the_password_in_a_url_is_a_secret_too(text: str) -> None:
    assert "hunter2" not in Redactor([DSN])(text)


def test_the_longest_is_taken_out_first() -> None:
    assert Redactor(["abcdef", "abcdefghij"])("abcdefghij") == "[redacted]"


def test_values_that_are_too_short_are_left_alone() -> None:
    assert Redactor(["", "abc", "a"])("abc is a word") == "abc is a word"


def test_a_text_without_secrets_is_given_back_itself() -> None:
    text = "nothing here " * 100
    assert Redactor([SECRET, DSN])(text) is text


def test_a_broken_url_is_a_secret_like_any_other() -> None:
    assert Redactor(["postgresql://[broken"])("at postgresql://[broken") == "at [redacted]"


@pytest.mark.parametrize(
    ("message", "arguments"),
    [
        ("it is %s", ("topsecret",)),
        ("topsecret", ()),
        ("%d topsecret", ("no number",)),
        ("%(a)s", ({"a": "topsecret"},)),
    ],
)
def test_a_log_record_is_cleaned_message_arguments_and_traceback(message: str, arguments: tuple[object, ...]) -> None:
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    handler.addFilter(Redactor(["topsecret"]))
    logger = logging.Logger("alone")  # noqa: LOG001 (a logger that no other test shares)
    logger.addHandler(handler)
    try:
        int("topsecret")
    except ValueError:
        logger.exception(message, *arguments)
    assert "topsecret" not in out.getvalue()
    assert "ValueError: invalid literal for int() with base 10: '[redacted]'" in out.getvalue()
