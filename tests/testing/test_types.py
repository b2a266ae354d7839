"""What a type checker makes of the helpers: a value on a sync connection, something to be awaited on an async one."""

from collections.abc import Awaitable
from typing import Any, assert_type

import psycopg
import sqlalchemy as sa
from sqlalchemy import orm
from sqlalchemy.ext import asyncio as sa_async

from crontick.jobs import Kind, Summary
from crontick.jobs.testing import clock, drain, enqueued
from crontick.jobs.testing.set_clock import AsyncClock, Clock
from tests.testing.kinds import Number


def sync(conn: psycopg.Connection[Any], other: sa.Connection, session: orm.Session, kind: Kind[Number]) -> None:
    assert_type(drain(conn), Summary)
    assert_type(drain(other), Summary)
    assert_type(drain(session), Summary)
    assert_type(enqueued(conn, kind), list[Number])
    assert_type(clock(other), Clock)
    assert_type(kind.enqueue(session, Number()), int)


async def awaited(
    conn: psycopg.AsyncConnection[Any],
    other: sa_async.AsyncConnection,
    session: sa_async.AsyncSession,
    kind: Kind[Number],
) -> None:
    assert_type(await drain(conn), Summary)
    assert_type(await drain(other), Summary)
    assert_type(await drain(session), Summary)
    assert_type(enqueued(conn, kind), Awaitable[list[Number]])
    assert_type(clock(other), AsyncClock)
    assert_type(kind.enqueue(other, Number()), Awaitable[int])


def test_a_type_checker_reads_this_file() -> None:
    """``make check`` does, with the types of the libraries."""
    assert sync.__annotations__
    assert awaited.__annotations__
