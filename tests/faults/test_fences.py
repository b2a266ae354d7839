"""How an attempt ended is written only while its own claim holds the job (P1)."""

from typing import Any

import psycopg
import pytest

from tests.faults.protocol import HandTick
from tests.faults.test_any_sequence import OUTCOMES


@pytest.mark.parametrize("outcome", [*OUTCOMES, "plain"])
def test_what_a_stale_holder_says_changes_nothing(sync_conn: psycopg.Connection[Any], outcome: str) -> None:
    job = sync_conn.execute("select crontick.enqueue('note')").fetchall()[0][0]
    stale = HandTick(sync_conn, "note")
    assert stale.claim() == [job]
    sync_conn.execute("update crontick.test_clock set ahead = '1 hour'")
    holder = HandTick(sync_conn, "note")
    assert (holder.rescued, holder.claim()) == (1, [job])
    row = "select j::text from crontick.unfinished_jobs as j"
    before = sync_conn.execute(row).fetchall()
    said: Any = job if outcome == "plain" else {"id": job, "outcome": outcome, **OUTCOMES[outcome]}
    assert stale.settle(said) == ([job], [], [])
    assert sync_conn.execute(row).fetchall() == before
    assert sync_conn.execute("select outcome from crontick.attempts").fetchall() == [("rescued",)]
    assert holder.settle(job) == ([], [], [])
