"""A watcher that was killed is missed, one that polls is told, and one that listens or was told to end is neither."""

from datetime import timedelta

import psycopg
import pytest
from psycopg.rows import dict_row

from crontick.handler.cli.database import ask
from crontick.handler.doctor.watchers import watchers

INSERT = "insert into crontick.watchers values (%s, 'here', 7, '0', %s, %s, now(), now() - %s::interval)"
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([], []),
        ([(MINUTE, True, "20 s")], []),
        ([(MINUTE, True, "20 s"), (MINUTE, True, "2 h")], []),
        ([(MINUTE, True, "2 h")], [(True, "the last watcher, process 7 of here, has been silent for 2h")]),
        ([(MINUTE, True, "25 h")], []),
        ([(MINUTE, False, "20 s")], [(False, "the watcher on here cannot listen through its pooler: it polls")]),
        ([(HOUR, False, "20 s")], [(True, "the watcher on here cannot listen through its pooler: it polls")]),
    ],
)
def test_watchers(
    sync_conn: psycopg.Connection[object], rows: list[tuple[timedelta, bool, str]], told: list[tuple[bool, str]]
) -> None:
    for number, row in enumerate(rows):
        sync_conn.execute(INSERT, (number, *row))
    with psycopg.connect(sync_conn.info.dsn, autocommit=True, row_factory=dict_row) as conn:
        found = list(watchers(ask(conn, "list_watchers")))
    assert len(found) == len(told)
    for finding, (wrong, words) in zip(found, told, strict=True):
        assert finding.wrong is wrong
        assert finding.what.startswith(words)
