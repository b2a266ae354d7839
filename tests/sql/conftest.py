"""The SQL interface as an app of any language uses it, and a tick's own statements where a job has to run."""

import json
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest

from crontick.sql import SCHEMA
from crontick.sql.migrate import migrate
from tests.worlds.waiting import until

KNOWN = '[{"name": "mail", "queue": "post", "priority": 7, "max_attempts": 3}]'


class Sql:
    """One connection in autocommit mode; the kind ``mail`` is known, with the queue ``post`` and priority 7."""

    def __init__(self, conn: psycopg.Connection[Any]) -> None:
        self.conn = conn
        self.notices: list[str] = []
        conn.add_notice_handler(lambda notice: self.notices.append(f"{notice.severity}: {notice.message_primary}"))
        self.one("select crontick.sync_deployment('test', '1', %s, false)", KNOWN)

    def rows(self, text: str, *values: object) -> list[tuple[Any, ...]]:
        cursor = self.conn.execute(text.encode(), values or None)
        return cursor.fetchall() if cursor.description else []

    def one(self, text: str, *values: object) -> Any:
        """The first column of the first row."""
        found = self.rows(text, *values)
        return found[0][0] if found else None

    def refused(self, text: str, *values: object) -> psycopg.Error:
        """The error that the statement ends in."""
        with pytest.raises(psycopg.Error) as raised:
            self.rows(text, *values)
        return raised.value

    def enqueue(self, kind: str = "mail", /, **arguments: object) -> int:
        named = "".join(f", {name} => %s" for name in arguments)
        return int(self.one(f"select crontick.enqueue(%s{named})", kind, *arguments.values()))

    def job(self, job: int) -> dict[str, Any]:
        return dict(self.one("select to_jsonb(j) from crontick.jobs as j where id = %s", job))

    def later(self, length: str) -> None:
        self.rows("update crontick.test_clock set ahead = ahead + %s::interval", length)

    def claim(self, seats: int = 1, claim: int = 11, kinds: tuple[str, ...] = ("mail",)) -> list[int]:
        """Open a tick and claim, as a process does that then dies; the ids of the jobs that now run."""
        self.rows(
            "select crontick.open_tick(%s, %s, 'test', '', 'test', 25, 40, 100, false, %s, 'curl', null, '', '', '')",
            claim,
            SCHEMA,
            list(kinds),
        )
        self.rows("select crontick.place()")
        taken = self.rows(
            "select id from crontick.claim(%s, %s, %s, 0, 0, 40, %s, null, null, null, %s, true, false)",
            claim,
            claim,
            seats,
            list(kinds),
            '{"mail": {"field": "key", "in_doubt": "park"}}',
        )
        return sorted(row[0] for row in taken)

    def wait_for_lock(self, database: str, sessions: int = 1) -> None:
        """Until so many other sessions wait for a lock; asked outside the transaction that is open here."""
        waiting = (
            "select count(*) = %s from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"
        )
        with psycopg.connect(database, autocommit=True) as watcher:
            until(lambda: watcher.execute(waiting, [sessions]).fetchone() == (True,))

    def settle(self, job: int, outcome: str, claim: int = 11, **ending: object) -> None:
        """Write down how an attempt ended."""
        told = json.dumps([{"id": job, "claim": claim, "outcome": outcome, **ending}])
        self.rows("select crontick.settle(%s, '{}', '{}', %s, null)", claim, told)

    def dead(self, error: str = "it broke", **arguments: object) -> int:
        """A job that died of an error."""
        job = self.enqueue(**arguments)
        assert job in self.claim(seats=100, claim=job + 1000)
        self.settle(job, "dead", claim=job + 1000, error=error)
        return job

    def doubtful(self, key: str = "k") -> int:
        """A job that died in doubt of its marker."""
        job = self.enqueue(payload=json.dumps({"key": key}))
        assert job in self.claim(seats=100, claim=job + 1000)
        marks = [{"kind": "mail", "key": key, "state": "in_doubt"}]
        self.settle(job, "dead", claim=job + 1000, error="in doubt", marks=marks)
        return job


@pytest.fixture
def sql(sync_conn: psycopg.Connection[Any]) -> Sql:
    return Sql(sync_conn)


ROLES: Final = ("crontick_enqueue", "crontick_tick", "crontick_read", "crontick_admin")


def as_role(url: str, role: str) -> str:
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=f"{role}@{parts.netloc.rpartition('@')[2]}"))


@pytest.fixture
def roles(server: str, database: str) -> Iterator[None]:
    """The four roles, made after the schema was; they belong to the server, so they go again."""
    with psycopg.connect(server, autocommit=True) as admin:
        for role in ROLES:
            admin.execute(f"create role {role} login".encode())
        try:
            migrate(database, environment="test", test_clock=True)
            yield
        finally:
            with psycopg.connect(database, autocommit=True) as owner:
                for role in ROLES:
                    owner.execute(f"drop owned by {role}; drop role {role}".encode())
