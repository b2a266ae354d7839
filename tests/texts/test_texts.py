"""Recording a failure can never fail, and never quotes what must not be quoted."""

import time
import uuid
from asyncio import CancelledError

import httpx
import psycopg
import pytest

from crontick.jobs.texts import describe, fingerprint, storable


class _Nasty(Exception):
    def __init__(self, answer: object) -> None:
        super().__init__()
        self.answer = answer

    def __str__(self) -> str:
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer  # type: ignore[return-value]


class _Loud(str):
    __slots__ = ()

    def __str__(self) -> str:
        raise ValueError

    def __len__(self) -> int:
        raise ValueError


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ("plain", "plain"),
        ("a\0b", "a\ufffdb"),
        ("half \ud83d of a pair", "half \ufffd of a pair"),
        (b"caf\xc3\xa9 \xff", "café \ufffd"),
        (None, "None"),
        (7, "7"),
        ("", ""),
    ],
)
def test_whatever_is_given_can_be_stored(given: object, stored: str) -> None:
    assert storable(given, limit=100) == stored


@pytest.mark.parametrize(
    "answer",
    [
        ValueError("no"),
        7,
        None,
        b"x",
        SystemExit(3),
        MemoryError(),
        RecursionError(),
        CancelledError(),
        GeneratorExit(),
        KeyboardInterrupt(),
        BaseException(),
    ],
)
def test_an_object_that_cannot_be_read_is_told_to_be_so(answer: object) -> None:
    assert storable(_Nasty(answer), limit=100) == "(its text cannot be read)"
    assert describe(_Nasty(answer)) == "_Nasty: (its text cannot be read)"
    assert len(fingerprint(describe(_Nasty(answer)))) == 16


def test_a_string_that_lies_about_itself_is_read_as_what_it_is() -> None:
    assert storable(_Loud("quiet"), limit=100) == "quiet"


def test_a_long_text_keeps_its_head_and_its_tail() -> None:
    short = storable("head " + "x" * 10_000_000 + " tail", limit=200)
    assert len(short) <= 200
    assert short.startswith("head ")
    assert short.endswith(" tail")
    assert "9999810 more characters" in short


@pytest.mark.parametrize("limit", [0, 1, 5, 30, 40])
def test_no_limit_is_too_small(limit: int) -> None:
    assert len(storable("x" * 1000, limit=limit)) <= limit


def test_an_error_is_its_class_and_its_message() -> None:
    assert describe(ValueError("boo")) == "ValueError: boo"
    assert describe(MemoryError()) == "MemoryError"


def test_a_cause_is_told_once_even_when_it_is_its_own() -> None:
    outer, inner = RuntimeError("no card"), KeyError("card")
    outer.__cause__, inner.__cause__ = inner, outer
    assert describe(outer) == "RuntimeError: no card; because of KeyError: 'card'"


def test_a_group_tells_its_parts() -> None:
    group = ExceptionGroup("two failed", [ValueError("a"), TypeError("b")])
    assert describe(group) == "ExceptionGroup: two failed (2 sub-exceptions): ValueError: a, TypeError: b"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (httpx.ReadTimeout("", request=httpx.Request("GET", "https://u:pw@crm.example/hook?token=abc")), "crm.example"),
        (
            httpx.HTTPStatusError(
                "Server error '503' for url 'https://crm.example/hook?token=abc'",
                request=httpx.Request("GET", "https://crm.example/hook?token=abc"),
                response=httpx.Response(503),
            ),
            "503 from crm.example",
        ),
        (httpx.UnsupportedProtocol("bad https://crm.example/secret/path"), "bad crm.example"),
        (httpx.InvalidURL("no request at all"), "no request at all"),
    ],
)
def test_an_http_error_names_the_host_only(error: Exception, said: str) -> None:
    assert describe(error) == f"{type(error).__name__}: {said}"


@pytest.mark.parametrize("text", ["x" * 200_000, "x." * 100_000, "a://" * 50_000, "a://b@" * 40_000, " " * 200_000])
def test_a_long_text_of_an_http_error_does_not_hold_the_loop(text: str) -> None:
    began = time.thread_time()
    describe(httpx.ReadError(text))
    assert time.thread_time() - began < 5


def test_a_url_is_found_whatever_stands_before_it() -> None:
    assert describe(httpx.ReadError("at-https://u:pw@crm.example/token")) == "ReadError: crm.example"


@pytest.mark.parametrize(
    "dsn",
    [
        "postgresql://acme:hunter2pw@127.0.0.1:1/shop",
        "postgresql://acme:hunter2pw%ZZ@127.0.0.1:1/shop",
        "postgresql://acme:hunter2pw@127.0.0.1:1/shop?hunter2pw",
        "host=127.0.0.1 port=1 password='hunter2pw",
        "host=127.0.0.1 port=1 hunter2pw",
        "postgresql://acme:hunter2pw@[::1/shop",
        "postgresql://127.0.0.1:hunter2pw/shop",
    ],
)
def test_a_connection_error_never_quotes_the_dsn(dsn: str) -> None:
    with pytest.raises(psycopg.Error) as raised:
        psycopg.connect(dsn)
    assert "hunter2" not in describe(raised.value)


def test_a_refused_connection_names_host_port_and_reason() -> None:
    with pytest.raises(psycopg.Error) as raised:
        psycopg.connect("postgresql://acme:hunter2pw@127.0.0.1:1/shop")
    assert describe(raised.value) == "OperationalError: no connection to 127.0.0.1 port 1: connection refused"


def test_a_client_side_database_error_keeps_its_words() -> None:
    assert (
        describe(psycopg.ProgrammingError("the query has 1 placeholder"))
        == "ProgrammingError: the query has 1 placeholder"
    )


def test_a_wrapped_database_error_loses_its_statement_and_its_row() -> None:
    wrapped = type("IntegrityError", (Exception,), {"__module__": "sqlalchemy.exc"})
    text = (
        "(psycopg) duplicate key\nDETAIL:  Key (email)=(a@b.example)\n[SQL: insert]\n[parameters: {'x': 'a@b.example'}]"
    )
    assert describe(wrapped(text)) == "IntegrityError: (psycopg) duplicate key"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("order 17 is gone", "order 4711 is gone"),
        (f"no {uuid.UUID(int=1)}", f"no {uuid.UUID(int=2**127 + 7)}"),
        ("commit 3f9ac21b", "commit 77aa01ce"),
        ("blob deadbeef", "blob cafebabe"),
        ("at 0x7f12ab34cd", "at 0x55e0"),
        ("after 1.5 s", "after 20.25 s"),
    ],
)
def test_errors_that_differ_in_numbers_only_have_one_fingerprint(one: str, other: str) -> None:
    assert fingerprint(describe(ValueError(one))) == fingerprint(describe(ValueError(other)))
    assert fingerprint(describe(ValueError(one))) != fingerprint(describe(TypeError(one)))


@pytest.mark.parametrize(("one", "other"), [("order is gone", "order is late"), ("no café", "no cafe")])
def test_errors_that_differ_in_words_have_two(one: str, other: str) -> None:
    assert fingerprint(describe(ValueError(one))) != fingerprint(describe(ValueError(other)))


def test_a_fingerprint_is_taken_of_anything() -> None:
    for text in ("\0", "\ud83d", "x" * 10_000_000):
        assert len(fingerprint(describe(ValueError(text)))) == 16
