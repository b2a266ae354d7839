"""The transaction of the test is neither ended, nor broken, nor confused by what a drain does in it."""

import asyncio
from collections.abc import Sequence
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa
from sqlalchemy import orm

from crontick.jobs import Context, kind
from crontick.jobs.testing import drain
from crontick.jobs.testing.borrowed import BorrowedLink
from crontick.jobs.testing.place import CallersLoop
from crontick.sql.wire import Segment
from tests.testing.kinds import Number, double

INSERT = "insert into written (value) values (%s)"


class Row(orm.DeclarativeBase):
    """What the application stores."""


class Written(Row):
    """The table of these tests."""

    __tablename__ = "written"
    value: orm.Mapped[int] = orm.mapped_column(primary_key=True)


def test_what_cannot_be_stored_is_settled_without_its_texts(open_conn: psycopg.Connection[Any]) -> None:
    """An exchange fails, is rolled back alone, and is made again."""

    @kind("too_far")
    async def too_far(payload: Number, ctx: Context) -> None:
        async with ctx.db() as conn:
            await conn.execute(INSERT, (payload.value,))
        ctx.progress_made = (2**63, None)  # as no function can say it

    job = too_far.enqueue(open_conn, Number(5))
    assert drain(open_conn, kinds=[too_far]).succeeded == 1
    told = open_conn.execute("select status, last_error from crontick.jobs where id = %s", (job,)).fetchone()
    assert told is not None
    assert told[0] == "succeeded"
    assert open_conn.execute("select value from written").fetchall() == [(5,)]


def test_what_a_session_has_not_sent_is_there_when_jobs_run(database: str) -> None:
    engine = sa.create_engine(database.replace("postgresql://", "postgresql+psycopg://"), poolclass=sa.NullPool)
    with orm.Session(engine) as session:

        @kind("looks")
        def looks(payload: Number) -> Any:
            return session.connection().scalar(sa.text("select value from written"))

        Row.metadata.create_all(session.connection())
        session.add(Written(value=7))
        job = looks.enqueue(session, Number())
        assert drain(session, kinds=[looks]).succeeded == 1
        asked = sa.text("select result::text from crontick.jobs where id = :job")
        assert session.scalar(asked, {"job": job}) == "7"
        session.rollback()


def test_statements_that_either_prepared_are_not_mixed_up(database: str) -> None:
    @kind("prepares")
    def prepares(payload: Number, ctx: Context) -> int:
        with ctx.db() as conn:
            for value in range(10):
                conn.execute("select %s::int", (value,))
        return 1

    with psycopg.connect(database, prepare_threshold=0) as conn:
        for value in range(10):
            conn.execute("select %s::text", (str(value),))
        prepares.enqueue(conn, Number())
        assert drain(conn, kinds=[prepares]).errors == []
        conn.rollback()


def test_a_connection_that_is_lost_ends_the_drain(database: str) -> None:
    with psycopg.connect(database) as conn, psycopg.connect(database, autocommit=True) as admin:

        @kind("cuts")
        def cuts(payload: Number) -> None:
            admin.execute("select pg_terminate_backend(%s, 10000)", (conn.info.backend_pid,))

        cuts.enqueue(conn, Number())
        with pytest.raises(psycopg.OperationalError):
            drain(conn, kinds=[cuts])


async def test_no_exchange_interrupts_an_attempt(open_async: psycopg.AsyncConnection[Any]) -> None:
    """A driver may refuse two statements at once, and what was said inside the function's savepoint may be undone."""
    link, built = BorrowedLink(open_async, CallersLoop()), 0

    def build(*, repeat: bool) -> Sequence[Segment]:
        nonlocal built
        built += 1
        return []

    async with link.turn:
        asked = asyncio.create_task(link.ask(build))
        for _ in range(5):
            await asyncio.sleep(0)
        assert built == 0
    assert await asked == []
    assert built == 1


@pytest.mark.parametrize("end", ["rollback to savepoint theirs", "release savepoint theirs"])
def test_savepoints_of_the_test_hold_what_was_drained(open_conn: psycopg.Connection[Any], end: str) -> None:
    open_conn.execute("savepoint theirs")
    job = double.enqueue(open_conn, Number(1))
    drain(open_conn, kinds=[double])
    open_conn.execute(end.encode())
    found = open_conn.execute("select status from crontick.jobs where id = %s", (job,)).fetchone()
    assert found == (None if "rollback" in end else ("succeeded",))
