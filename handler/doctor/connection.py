"""The way to the database: how long it takes, what stands in it, and whether a tick can work at its end."""

import time
from collections.abc import Iterator
from typing import Final

import psycopg

from crontick.handler.cli.database import CONNECT_SECONDS, Connection, ask
from crontick.handler.cli.screen import Row
from crontick.handler.doctor.finding import (
    MIGRATE_URL,
    OLD_POSTGRESQL,
    OUT_OF_REACH,
    READ_ONLY,
    SLOW_DATABASE,
    Finding,
)
from crontick.jobs.database_url import server_names
from crontick.jobs.settings import Settings
from crontick.jobs.unavailable import unavailable
from crontick.sql.migrate import MigrationRefused, refuse_pooler

OLDEST: Final = 140000
SLOW_MS: Final = 100.0
ASKED: Final = 5
"""The best of so many counts: a busy machine makes single answers late, a long way all of them."""


def connection(conn: Connection, url: str, connect_ms: float) -> Iterator[Finding]:
    """What a tick meets there; ``connect_ms`` is how long connecting took."""
    answers = []
    for _ in range(ASKED):
        asked = time.perf_counter()
        [way] = ask(conn, "read_connection")
        answers.append((time.perf_counter() - asked) * 1000)
    yield from way_found(conn.info.server_version, way)
    best = min(answers)
    pooled = ", through a pooler" if way["process"] != conn.info.backend_pid else ""
    name = f"PostgreSQL {named(conn.info.server_version)}, {server_names(url)}{pooled}"
    yield Finding(
        SLOW_DATABASE,
        f"{name}: a round trip takes {best:.1f} ms, connecting took {connect_ms:.0f} ms:"
        f" an idle tick waits {connect_ms + best:.0f} ms for it, one with jobs at least {best:.1f} ms more",
        "run ticks in the region of the database" if best > SLOW_MS else None,
        wrong=best > SLOW_MS,
    )


def way_found(server_version: int, way: Row) -> Iterator[Finding]:
    """What makes a server one on which no tick can work."""
    if server_version < OLDEST:
        yield Finding(
            OLD_POSTGRESQL,
            f"the server is PostgreSQL {named(server_version)}",
            "upgrade it: 14 is the oldest that works",
        )
    if way["in_recovery"]:
        yield Finding(
            READ_ONLY,
            "this server is a read replica",
            "set CRONTICK_DATABASE_URL to the primary, or `target_session_attrs=read-write` beside several hosts",
        )
    elif way["read_only"]:
        yield Finding(
            READ_ONLY,
            "transactions are read-only here",
            "take away default_transaction_read_only from the role, the database or the server",
        )


def migrate_url(settings: Settings) -> Iterator[Finding]:
    """Whether migrations can go through it; one that is out of reach from here may be so on purpose."""
    url = settings.migrate_url
    assert url is not None  # there is a database, and it defaults to that
    try:
        with psycopg.connect(url, autocommit=True, prepare_threshold=None, connect_timeout=CONNECT_SECONDS) as conn:
            refuse_pooler(conn, url)
    except MigrationRefused as refused:
        what, _, mend = str(refused).partition(": ")
        yield Finding(MIGRATE_URL, f"for `crontick migrate`, {what}", mend)
    except (psycopg.OperationalError, OSError) as error:
        yield Finding(
            OUT_OF_REACH,
            f"CRONTICK_MIGRATE_URL cannot be reached from here ({unavailable(error).reason})",
            "run `crontick migrate` where it can",
            wrong=False,
        )


def named(server_version: int) -> str:
    """18.6 for 180006."""
    return f"{server_version // 10000}.{server_version % 10000}"
