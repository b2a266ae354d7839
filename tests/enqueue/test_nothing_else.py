"""An enqueue leaves the application's session and driver as they were, whatever it made of them."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import asyncpg
import psycopg
import pytest
import sqlalchemy as sa
from psycopg.rows import dict_row
from sqlalchemy import orm
from sqlalchemy.ext import asyncio as sa_async

from crontick.jobs import kind
from tests.enqueue.transactions import open_transaction
from tests.worlds.process import Processes


class Base(orm.DeclarativeBase):
    """The application's models."""


class Account(Base):
    """A row of the application's."""

    __tablename__ = "accounts"

    id: orm.Mapped[int] = orm.mapped_column(primary_key=True)


@kind("note")
async def note(payload: Any) -> None: ...


@pytest.fixture
def engine(database: str) -> Iterator[sa.Engine]:
    engine = sa.create_engine(database.replace("://", "+psycopg://"), poolclass=sa.NullPool)
    Base.metadata.create_all(engine)
    yield engine
    engine.dispose()


def test_a_session_s_pending_objects_are_neither_flushed_nor_expired(engine: sa.Engine) -> None:
    with orm.Session(engine) as session:
        old, new = Account(id=1), Account(id=2)
        session.add(old)
        session.flush()
        session.add(new)
        note.enqueue(session, {})
        assert (list(session.new), sa.inspect(old).expired_attributes) == ([new], set())
        session.commit()
        assert session.scalar(sa.text("select count(*) from crontick.jobs, accounts")) == 2


def test_a_session_begins_as_it_would_by_itself(engine: sa.Engine) -> None:
    with orm.Session(engine) as session:
        note.enqueue(session, {})
        assert session.in_transaction()
    with orm.Session(engine) as session:
        assert session.scalar(sa.text("select count(*) from crontick.jobs")) == 0, "the first was not committed"
    with orm.Session(engine, autobegin=False) as session, pytest.raises(sa.exc.InvalidRequestError, match="Autobegin"):
        note.enqueue(session, {})


def test_inside_begin_the_block_commits(engine: sa.Engine) -> None:
    with orm.Session(engine) as session, session.begin():
        job = note.enqueue(session, {})
    with engine.begin() as conn:
        other = note.enqueue(conn, {})
    with engine.connect() as conn:
        assert list(conn.scalars(sa.text("select id from crontick.jobs order by id"))) == [job, other]


def test_two_sessions_of_several_databases_name_theirs(engine: sa.Engine) -> None:
    with orm.Session(binds={Account: engine}) as session:
        with pytest.raises(sa.exc.UnboundExecutionError):
            note.enqueue(session, {})
        assert note.enqueue(session.connection(bind_arguments={"mapper": Account}), {}) > 0


def test_a_driver_s_rows_are_the_application_s_own_affair(database: str) -> None:
    with psycopg.connect(database, row_factory=dict_row) as conn:
        assert note.enqueue(conn, {}) > 0
        assert conn.execute("select 1 as one").fetchone() == {"one": 1}


def test_a_codec_that_the_application_gave_asyncpg_does_not_write_the_payload_twice(database: str) -> None:
    """Nearly everybody who uses asyncpg registers this one, and with it a str would be stored as a JSON string."""

    async def enqueued() -> Any:
        conn = await asyncpg.connect(database)
        await conn.set_type_codec("jsonb", schema="pg_catalog", encoder=json.dumps, decoder=json.loads)
        await note.enqueue(conn, {"order": 1})
        found = await conn.fetchval("select payload from crontick.jobs")
        await conn.close()
        return found

    assert asyncio.run(enqueued()) == {"order": 1}


def test_a_sync_session_inside_an_async_one_is_enqueued_on_as_it_is(database: str) -> None:
    async def enqueued() -> int:
        engine = sa_async.create_async_engine(database.replace("://", "+asyncpg://"), poolclass=sa.NullPool)
        async with sa_async.AsyncSession(engine) as session:
            return await session.run_sync(lambda sync: note.enqueue(sync, {}))

    assert asyncio.run(enqueued()) > 0


def test_an_awaitable_that_is_never_awaited_has_sent_nothing(database: str) -> None:
    with open_transaction("async psycopg", database) as begun:
        begun.one("select 1")
        enqueued = note.enqueue(begun.conn, {})
        enqueued.close()
        begun.wait(begun.commit())
        counted = begun.wait(begun.run("select count(*) from crontick.jobs"))
        assert begun.wait(counted.fetchone()) == (0,)


OLD_DJANGO = """
import os, sys
sys.modules["psycopg"] = None  # as where psycopg 3 came later than Django was taught to use it
import django.db.backends.postgresql.base
del sys.modules["psycopg"]
from django.db import connection, transaction
from django.db.backends.postgresql.psycopg_any import is_psycopg3
from tests.enqueue.test_nothing_else import note
from tests.enqueue.transactions import use_django

use_django(os.environ["DATABASE"])
with transaction.atomic():
    job = note.enqueue(connection, {"through": "psycopg2"})
    with connection.cursor() as cursor:
        cursor.execute("select payload ->> 'through' from crontick.jobs where id = %s", (job,))
        print(is_psycopg3, cursor.fetchone()[0], type(connection.connection).__module__)
"""


def test_django_on_psycopg2(database: str, processes: Processes) -> None:
    child = processes.run("-c", OLD_DJANGO, env={"DATABASE": database})
    child.wait()
    assert child.rest() == ["False psycopg2 psycopg2.extensions"]
