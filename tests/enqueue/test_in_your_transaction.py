"""A job is enqueued in the caller's transaction, whatever library that transaction is open in."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from crontick.jobs import PayloadError, kind
from tests.enqueue.transactions import Transaction

Connection = psycopg.Connection[Any]


@dataclass(frozen=True)
class Receipt:
    """A payload with a type, and with what drivers quote in their own ways."""

    order: int
    text: str = '100 % of {} :it\'s \\ "so" $1 ☂'


@kind("receipt")
async def receipt(payload: Receipt) -> None: ...


def jobs(conn: Connection, what: str = "id") -> list[Any]:
    """What others see."""
    return [row[0] for row in conn.execute(f"select {what} from crontick.jobs order by id".encode())]


def said(conn: Connection, pid: int) -> tuple[Any, ...] | None:
    """The last statement of a session, when it came, and whether a transaction is open there."""
    asked = "select query, query_start, state, xact_start from pg_stat_activity where pid = %s"
    return conn.execute(asked, (pid,)).fetchone()


def test_the_job_is_there_when_the_transaction_commits(begun: Transaction, sync_conn: Connection) -> None:
    job = begun.wait(receipt.enqueue(begun.conn, Receipt(42), group_key="receipts"))
    assert jobs(sync_conn) == []
    begun.wait(begun.commit())
    assert jobs(sync_conn) == [job]
    assert jobs(sync_conn, "payload") == [{"order": 42, "text": Receipt(0).text}]


def test_it_goes_when_the_transaction_is_rolled_back(begun: Transaction, sync_conn: Connection) -> None:
    begun.wait(receipt.enqueue(begun.conn, Receipt(42)))
    begun.wait(begun.rollback())
    assert jobs(sync_conn) == []


def test_it_goes_with_its_savepoint_alone(begun: Transaction, sync_conn: Connection) -> None:
    kept = begun.wait(receipt.enqueue(begun.conn, Receipt(1)))
    undo = begun.nested()
    begun.wait(receipt.enqueue(begun.conn, Receipt(2)))
    undo()
    begun.wait(begun.commit())
    assert jobs(sync_conn) == [kept]


def test_a_payload_that_does_not_fit_is_refused_before_anything_is_sent(
    begun: Transaction, sync_conn: Connection
) -> None:
    begun.one("create temporary table of_the_application () on commit drop")
    (pid,) = sync_conn.execute("select pid from pg_stat_activity where query like 'create temp%'").fetchone() or (0,)
    before = said(sync_conn, pid)
    with pytest.raises(PayloadError, match="int"):
        begun.wait(receipt.enqueue(begun.conn, Receipt("seven")))  # type: ignore[arg-type]
    assert before is not None
    assert said(sync_conn, pid) == before
    job = begun.wait(receipt.enqueue(begun.conn, Receipt(7)))
    begun.wait(begun.commit())
    assert jobs(sync_conn) == [job]


def test_one_statement_is_sent_and_the_transaction_stays_open(begun: Transaction, sync_conn: Connection) -> None:
    begun.one("create temporary table of_the_application () on commit drop")
    (pid,) = sync_conn.execute("select pid from pg_stat_activity where query like 'create temp%'").fetchone() or (0,)
    before = said(sync_conn, pid)
    begun.wait(receipt.enqueue(begun.conn, Receipt(7)))
    after = said(sync_conn, pid)
    assert before is not None
    assert after is not None
    assert "select crontick.enqueue(" in after[0]
    assert after[2:] == ("idle in transaction", before[3])
    assert begun.wait(begun.commit()) is None


@pytest.mark.parametrize("enqueue_one", [True, False], ids=["enqueue", "enqueue_many"])
@pytest.mark.parametrize(
    ("run_at", "expected"),
    [
        (None, "run_at = now()"),
        (datetime(2035, 5, 1, 12, 30, tzinfo=UTC), "run_at = '2035-05-01 12:30Z'"),
        (timedelta(hours=25), "run_at = now() + interval '25 hours'"),
        (90, "run_at = now() + interval '90 seconds'"),
    ],
    ids=["now", "moment", "timedelta", "seconds"],
)
def test_run_at_is_a_moment_or_a_delay_from_the_database_s_now(
    begun: Transaction, sync_conn: Connection, *, enqueue_one: bool, run_at: Any, expected: str
) -> None:
    begun.one("select 1")
    if enqueue_one:
        begun.wait(receipt.enqueue(begun.conn, Receipt(1), run_at=run_at))
    else:
        begun.wait(receipt.enqueue_many(begun.conn, [Receipt(1)], run_at=run_at))
    begun.wait(begun.commit())
    told = expected.replace("now()", "created_at")
    assert jobs(sync_conn, told) == [True]


def test_a_key_that_is_taken_gives_the_id_of_the_job_that_has_it(begun: Transaction, sync_conn: Connection) -> None:
    first = begun.wait(receipt.enqueue(begun.conn, Receipt(1), unique_key="receipt:1", unique_for=timedelta(days=1)))
    again = begun.wait(receipt.enqueue(begun.conn, Receipt(1), unique_key="receipt:1", unique_for="24 hours"))
    begun.wait(begun.commit())
    assert (first, jobs(sync_conn)) == (again, [first])


def test_every_option_arrives(begun: Transaction, sync_conn: Connection) -> None:
    begun.wait(
        receipt.enqueue(
            begun.conn,
            Receipt(1),
            queue="slow",
            priority=-7,
            max_attempts=2,
            group_key="g",
            unique_key="u",
            on_conflict="replace",
            expires_at=datetime(2035, 5, 1, tzinfo=UTC),
        )
    )
    begun.wait(begun.commit())
    told = "concat_ws(' ', queue, priority, max_attempts, group_key, unique_key, expires_at at time zone 'UTC')"
    assert jobs(sync_conn, told) == ["slow -7 2 g u 2035-05-01 00:00:00"]


@pytest.mark.parametrize("number", [0, 1000])
def test_many_are_one_statement(begun: Transaction, sync_conn: Connection, number: int) -> None:
    ids = begun.wait(receipt.enqueue_many(begun.conn, [Receipt(order) for order in range(number)]))
    begun.wait(begun.commit())
    assert jobs(sync_conn) == ids
    assert jobs(sync_conn, "(payload ->> 'order')::int") == list(range(number))


def test_ten_thousand_are_one_statement(sync_conn: Connection) -> None:
    ids = receipt.enqueue_many(sync_conn, [Receipt(order) for order in range(10_000)])
    assert jobs(sync_conn) == ids


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"unique_ky": "receipt:1"}, r"receipt.enqueue has no option unique_ky: it has run_at, queue, priority, "),
        ({"priority": "high"}, r"receipt.enqueue: Expected `int \| null`, got `str` - at `\$.priority`"),
        ({"on_conflict": "ignore"}, r"receipt.enqueue: Invalid enum value 'ignore' - at `\$.on_conflict`"),
        ({"run_at": "tomorrow"}, r"receipt.enqueue: run_at is an aware datetime, or a delay, not 'tomorrow'"),
    ],
)
def test_an_option_that_is_not_one_is_named(sync_conn: Connection, options: dict[str, Any], said: str) -> None:
    calls: list[Callable[..., Any]] = [receipt.enqueue, receipt.enqueue_many]
    for call, given in zip(calls, (Receipt(1), [Receipt(1)]), strict=True):
        with pytest.raises(TypeError, match=said):
            call(sync_conn, given, **options)
