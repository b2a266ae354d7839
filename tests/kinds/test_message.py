"""A message is what was meant, byte for byte, whatever names and texts hold."""

import email
import email.policy
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from crontick.jobs.kinds.addresses import Address, AddressError, one_line, parse
from crontick.jobs.kinds.mail import SendEmail, headers
from crontick.jobs.kinds.message import Content, Message, compose
from crontick.jobs.kinds.settings import EmailSettings
from crontick.jobs.signals import Permanent

AT = datetime(2026, 11, 30, 2, 0, tzinfo=UTC)
SETTINGS = EmailSettings(url_env="SMTP_URL", sender="hi@acme.example")
SENDER = Address("hi@acme.example", "Acme")


def made(
    content: Content | None = None,
    *,
    to: str | Address = "a@example.com",
    headers: dict[str, str] | None = None,
    **rest: Any,
) -> Message:
    content = content or Content("Hi", "Hello", None)
    options = {"key": "send_email:job:1", "at": AT, **rest}
    return compose(content, SENDER, {"To": [parse(to)]}, headers=headers or {}, **options)


def read(message: Message) -> Any:
    return email.message_from_bytes(message.wire, policy=email.policy.default)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Zoë Ünïcode", "Zoë Ünïcode"),
        ("Doe, Jane", "Doe, Jane"),
        ("=?utf-8?q?x?=", "=?utf-8?q?x?="),
        ('Eve" <evil@example.net>, "x', 'Eve" <evil@example.net>, "x'),
        ("back\\slash", "back\\slash"),
        ("é" * 200, "é" * 200),
    ],
)
def test_a_name_is_shown_as_it_is_and_never_becomes_an_address(name: str, shown: str) -> None:
    [address] = read(made(to=Address("a@example.com", name)))["To"].addresses
    # Python's reader keeps the blank that folding puts between two encoded words, which RFC 2047 says to drop.
    assert address.display_name.replace(" ", "") == shown.replace(" ", "")
    assert address.addr_spec == "a@example.com"


@pytest.mark.parametrize(
    "subject",
    [
        "",
        "Übung 🎉 " + "é" * 300,
        "=?utf-8?q?Hi=0ABcc:_eve@example.net?=",
        "=?utf-8?b?SGkKQmNjOiBlQHguZXhhbXBsZQ==?=",
        "x" * 500,
        "x" * 5000,
    ],
)
def test_a_subject_is_shown_as_it_is_and_never_becomes_a_header(subject: str) -> None:
    message = made(Content(subject, "Hello", None))
    assert b"\r\nBcc" not in message.wire
    assert [part.lower() for part in read(message)].count("bcc") == 0
    assert "".join(str(read(message)["Subject"]).split()) == "".join(subject.split())


@pytest.mark.parametrize("word", ["x" * 5000, "é" * 3000, '"' * 3000, "\\" * 59 + " " + "x" * 61])
def test_a_word_of_any_length_is_shown_on_lines_that_a_server_takes(word: str) -> None:
    message = made(Content(word, "Hello", None), to=Address("a@example.com", word))
    assert max(map(len, message.wire.split(b"\r\n"))) <= 100
    assert read(message)["Subject"] == word
    assert read(message)["To"].addresses[0].addr_spec == "a@example.com"


def test_a_word_of_an_extra_header_that_no_line_holds_is_refused() -> None:
    link = f"<https://acme.example/{'x' * 870}>"
    assert headers(SendEmail(to="a@b.example", subject="", text="", headers={"List-Unsubscribe": link}), SETTINGS)
    with pytest.raises(Permanent, match="a word of more than 900"):
        headers(
            SendEmail(to="a@b.example", subject="", text="", headers={"List-Unsubscribe": link + "x" * 20}), SETTINGS
        )
    assert max(map(len, made(headers={"List-Unsubscribe": link}).wire.split(b"\r\n"))) <= 998


@pytest.mark.parametrize(
    "text", ["y" * 5000, "a\tb   é 中文 עברית  ", "line\r\n.\r\nMAIL FROM:<x@example.com>\r\n", "From me\nto you", ""]
)
def test_a_text_survives_and_no_line_is_too_long(text: str) -> None:
    message = made(Content("Hi", text, f"<p>{text}</p>"))
    plain, html = read(message).iter_parts()
    assert plain.get_content().splitlines() == text.splitlines()
    assert html.get_content().splitlines() == f"<p>{text}</p>".splitlines()
    assert max(map(len, message.wire.split(b"\r\n"))) <= 998
    assert message.wire.count(b"\n") == message.wire.count(b"\r\n")


def test_the_same_content_is_the_same_bytes_but_for_its_date() -> None:
    both = Content("Hi", "Hello", "<p>Hello</p>")
    first, second = made(both), made(both, at=AT + timedelta(hours=1))
    assert (first.id, first.content_hash) == (second.id, second.content_hash)
    assert first.wire.replace(b"02:00:00", b"03:00:00") == second.wire
    assert made(both, key="send_email:job:2").id != first.id
    assert made(Content("Hi", "Hello!", None)).content_hash != made().content_hash


def test_the_ids_domain_is_the_senders_and_the_date_has_a_numeric_zone() -> None:
    message = read(made())
    assert message["Message-ID"].endswith("@acme.example>")
    assert message["Date"] == "Mon, 30 Nov 2026 02:00:00 +0000"


@pytest.mark.parametrize(
    ("given", "want"),
    [
        ("a+tag@example.com", Address("a+tag@example.com")),
        ("A@EXAMPLE.com", Address("A@example.com")),
        ("o'brien@example.com", Address("o'brien@example.com")),
        ("info@bücher.example", Address("info@xn--bcher-kva.example")),
        ("info@straße.example", Address("info@xn--strae-oqa.example")),
        ("a@localhost", Address("a@localhost")),
        ("Ann <a@example.com>", Address("a@example.com", "Ann")),
        ('"Doe, Jane" <a@example.com>', Address("a@example.com", "Doe, Jane")),
        ("<a@example.com>", Address("a@example.com")),
        (" a@example.com ", Address("a@example.com")),
    ],
)
def test_an_address_is_read(given: str, want: Address) -> None:
    assert parse(given) == want


@pytest.mark.parametrize(
    "given",
    [
        "", "a", "@", "a@", "@example.com", "a..b@example.com", ".a@example.com", "a b@example.com", "a@example..com",
        "a@-x.example", '"a b"@example.com', "a@[192.0.2.1]", "é@example.com", "a@example.com, eve@example.net",
        "a@example.com\nBcc: eve@example.net", "a@example.com\0", "Ann <a@example.com> <eve@example.net>",
        "Doe, Jane <a@example.com>", "x" * 65 + "@example.com", "a@" + "x" * 64 + ".example",
        "a@" + "ü" * 300 + ".example",
    ],
)  # fmt: skip
def test_what_is_no_address_is_refused_without_being_quoted(given: str) -> None:
    with pytest.raises(AddressError) as raised:
        parse(given)
    assert "eve" not in str(raised.value)


@pytest.mark.parametrize("text", [" ", "x ", '" ', "<", "a@", "a.", "é."])
def test_a_long_text_that_is_no_address_does_not_hold_the_loop(text: str) -> None:
    began = time.thread_time()
    with pytest.raises(AddressError):
        parse("x" + text * 60_000 + "x")
    assert time.thread_time() - began < 5


@pytest.mark.parametrize("end", ["\n", "\r", "\0", "\v", "\f", "\x1c", "\x85", "\u2028", "\u2029", "\t", "\x7f"])
def test_no_line_end_in_any_disguise_is_on_one_line(end: str) -> None:
    for text in (f"Hi{end}Bcc: x", f"A 💩 subject{end}"):
        with pytest.raises(AddressError):
            one_line(text)
        with pytest.raises(AddressError):
            parse(Address("a@example.com", text))


def test_what_is_visible_is_on_one_line() -> None:
    assert one_line("Übung 🎉 עברית \u00a0x") == "Übung 🎉 עברית \u00a0x"
