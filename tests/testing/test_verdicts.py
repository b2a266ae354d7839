"""What a test says inside a job fails the test, and not only the attempt."""

import asyncio
from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from crontick.jobs import kind
from crontick.jobs.testing import Failed, drain, run, run_async


def fail() -> None:
    pytest.fail("that must not be called")


def assert_it() -> None:
    called = ["this"]
    assert called == [], "that must not be called"


def product_asserts() -> None:
    """In code that pytest did not read."""
    exec("assert False, 'a bug'", {})


SAYS: dict[str, Callable[[], None]] = {"fail": fail, "assert": assert_it, "product": product_asserts}


@kind("says_async")
async def says_async(payload: str) -> None:
    await asyncio.sleep(0)
    SAYS[payload]()


@kind("says")
def says(payload: str) -> None:
    SAYS[payload]()


@pytest.mark.parametrize("said", ["fail", "assert"])
@pytest.mark.parametrize("of", [says_async, says])
def test_the_test_fails(open_conn: psycopg.Connection[Any], of: Any, said: str) -> None:
    of.enqueue(open_conn, said)
    for go in (lambda: run(of, said), lambda: drain(open_conn, kinds=[of])):
        with pytest.raises((pytest.fail.Exception, AssertionError), match="that must not be called"):
            go()
    assert open_conn.execute("select status from crontick.jobs").fetchall() == [("queued",)]


@pytest.mark.parametrize("of", [says_async, says])
async def test_so_does_an_async_one(open_async: psycopg.AsyncConnection[Any], of: Any) -> None:
    await of.enqueue(open_async, "fail")
    for go in (lambda: run_async(of, "fail"), lambda: drain(open_async, kinds=[of])):
        with pytest.raises(pytest.fail.Exception, match="that must not be called"):
            await go()


def test_an_assertion_of_the_application_fails_its_attempt(open_conn: psycopg.Connection[Any]) -> None:
    assert isinstance(run(says, "product"), Failed)
    says.enqueue(open_conn, "product")
    assert drain(open_conn, kinds=[says]).failed == 1
