"""Bring a database up to the schema and the functions of this code."""

import hashlib
import time
from dataclasses import dataclass, field
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

import psycopg

from crontick.sql import OLDEST_CODE, SCHEMA

__all__ = ["MigrationRefused", "Step", "environment_of", "migrate", "pending", "refuse_pooler", "script"]

_LOCK = 0x63726F6E7469636B
"""The letters of "crontick": two schemas of one database never migrate at once."""
_LOOKS = 5
"""Among other clients of a pooler two statements may meet different sessions by chance."""
_LEDGER = """
create schema if not exists crontick;
create table if not exists crontick.ledger (
    name text primary key,
    sha256 text not null,
    applied_at timestamptz not null default statement_timestamp()
)
"""


class MigrationRefused(RuntimeError):
    """The database cannot be migrated by this code; the message says why, and what to do."""


@dataclass(frozen=True, slots=True)
class Step:
    """One file that has to run: a migration (once), or a function, view or clock (whenever its text changed)."""

    name: str
    text: str
    sha256: str = field(repr=False)
    once: bool

    @property
    def statements(self) -> str:
        """The file, and before it the drop of what it re-creates with other arguments."""
        if self.name.startswith("functions/") and "create function" in self.text:
            return _DROP.format(name=self.name.removeprefix("functions/").removesuffix(".sql")) + self.text
        return self.text


_DROP = """do $$
declare
    v_old regprocedure;
begin
    for v_old in
        select p.oid::regprocedure from pg_catalog.pg_proc as p
        where p.pronamespace = 'crontick'::regnamespace and p.proname = '{name}'
    loop
        execute format('drop function %s', v_old);
    end loop;
end
$$;
"""


def migrate(
    url: str,
    *,
    environment: str = "production",
    test_clock: bool = False,
    wait_seconds: float = 60,
) -> list[str]:
    """Apply what is missing and return the names of the files that ran; nothing changes when nothing is missing.

    Twenty processes may do so at once: one works, the others wait for its lock, which is polled, because a session that
    waits inside ``pg_advisory_lock()`` deadlocks with ``create index concurrently``. Use a direct URL, not a pooler's.
    ``environment`` is written by the first migration, and refused when it differs later (P13).
    """
    if test_clock and environment == "production":
        raise MigrationRefused(
            'the test clock is not for the environment "production": set CRONTICK_ENVIRONMENT, for example to "test"'
        )
    with psycopg.connect(url, autocommit=True, prepare_threshold=None) as conn:
        refuse_pooler(conn, url)
        _lock(conn, wait_seconds)
        conn.execute("set lock_timeout = '5s'; set check_function_bodies = off; set client_min_messages = warning")
        conn.execute(_LEDGER)
        _check_environment(conn, environment)
        steps = _missing(conn, test_clock=test_clock)
        for step in steps:
            with conn.transaction():
                conn.execute(step.statements.encode())
                conn.execute(
                    "insert into crontick.ledger (name, sha256) values (%s, %s)"
                    " on conflict (name) do update set sha256 = excluded.sha256, applied_at = statement_timestamp()",
                    (step.name, step.sha256),
                )
        _finish(conn, environment, test_clock=test_clock)
    return [step.name for step in steps]


def pending(url: str) -> list[Step]:
    """What ``migrate`` would run, without running it."""
    with psycopg.connect(url, autocommit=True, prepare_threshold=None) as conn:
        row = conn.execute("select to_regclass('crontick.ledger') is not null").fetchone()
        if row is None or not row[0]:
            return _steps(test_clock=False)
        return _missing(conn, test_clock=_has_test_clock(conn))


def environment_of(url: str) -> str | None:
    """The environment that the database was first migrated for (P13); None for one that has no crontick."""
    with psycopg.connect(url, autocommit=True, prepare_threshold=None) as conn:
        return _known_environment(conn)


def script(*, environment: str = "production") -> str:
    """The whole schema as one SQL text, for those who run migrations by their own means."""
    parts = ["begin;", "set local check_function_bodies = off;", _LEDGER + ";"]
    for step in _steps(test_clock=False):
        parts += [f"-- {step.name}", step.statements.rstrip().removesuffix(";") + ";"]
        entry = f"insert into crontick.ledger (name, sha256) values ('{step.name}', '{step.sha256}');"  # noqa: S608 (ours)
        parts.append(entry)
    name = environment.replace("'", "''")
    row = f"'{name}', {SCHEMA}, {OLDEST_CODE}"
    parts.append(f"insert into crontick.installation (environment, version, oldest_code) values ({row});")  # noqa: S608
    parts += [_folder().joinpath("grants.sql").read_text("utf-8"), "commit;"]
    return "\n".join(parts) + "\n"


def _folder() -> Traversable:
    return files("crontick.sql")


def refuse_pooler(conn: psycopg.Connection[Any], url: str) -> None:
    """A pooler in transaction mode would leave the lock and the settings below to whoever has that session next.

    A pooler tells a process number of its own; in session mode it keeps the session for us, and nobody else meets it.
    Raises ``MigrationRefused``.
    """
    if _one(conn, "select pg_backend_pid()") == conn.info.backend_pid:
        return
    with psycopg.connect(url, autocommit=True, prepare_threshold=None) as other:
        for _ in range(_LOOKS):
            if _one(conn, "select pg_backend_pid()") == _one(other, "select pg_backend_pid()"):
                raise MigrationRefused(
                    "this URL leads through a pooler in transaction mode: set CRONTICK_MIGRATE_URL to the database's"
                    " direct URL, or to the pooler's in session mode"
                )


def _lock(conn: psycopg.Connection[Any], wait_seconds: float) -> None:
    deadline = time.monotonic() + wait_seconds
    while not _one(conn, "select pg_try_advisory_lock(%s)", _LOCK):
        if time.monotonic() > deadline:
            raise MigrationRefused(
                f"another migration has held its lock for {wait_seconds:g} s: wait for it, or end its session,"
                " which pg_locks shows with locktype 'advisory'"
            )
        time.sleep(0.1)


def _one(conn: psycopg.Connection[Any], text: str, *values: object) -> Any:
    row = conn.execute(text, values).fetchone()
    return row[0] if row else None


def _has_test_clock(conn: psycopg.Connection[Any]) -> bool:
    return bool(_one(conn, "select exists (select from crontick.ledger where name = 'clocks/test.sql')"))


def _known_environment(conn: psycopg.Connection[Any]) -> str | None:
    if not _one(conn, "select to_regclass('crontick.installation') is not null"):
        return None
    known: str | None = _one(conn, "select environment from crontick.installation")
    return known


def _check_environment(conn: psycopg.Connection[Any], environment: str) -> None:
    known = _known_environment(conn)
    if known is None:
        return
    if known != environment:
        raise MigrationRefused(
            f'this database belongs to the environment "{known}", not to "{environment}":'
            " set CRONTICK_ENVIRONMENT, or point this deployment at its own database"
        )
    version = _one(conn, "select version from crontick.installation")
    if version > SCHEMA:
        raise MigrationRefused(
            f"the database has schema {version}, this code knows {SCHEMA}: migrate with the newer release"
        )


def _steps(*, test_clock: bool) -> list[Step]:
    steps = [_step("migrations", path, once=True) for path in _sql_files("migrations")]
    steps += [_step("functions", path, once=False) for path in _sql_files("functions")]
    steps += [_step("views", path, once=False) for path in _sql_files("views")]
    if test_clock:
        steps += [_step("clocks", path, once=False) for path in _sql_files("clocks")]
    return steps


def _sql_files(kind: str) -> list[Traversable]:
    return sorted(
        (path for path in _folder().joinpath(kind).iterdir() if path.name.endswith(".sql")), key=lambda path: path.name
    )


def _step(kind: str, path: Traversable, *, once: bool) -> Step:
    text = path.read_text("utf-8")
    return Step(f"{kind}/{path.name}", text, hashlib.sha256(text.encode()).hexdigest(), once)


def _missing(conn: psycopg.Connection[Any], *, test_clock: bool) -> list[Step]:
    applied = dict(conn.execute("select name, sha256 from crontick.ledger").fetchall())
    missing = []
    for step in _steps(test_clock=test_clock):
        if applied.get(step.name) == step.sha256:
            continue
        if step.once and step.name in applied:
            raise MigrationRefused(
                f"{step.name} was changed after it was applied: migrations only go forward, add a new one"
            )
        missing.append(step)
    if test_clock and any(step.name == "functions/now.sql" for step in missing):
        missing = [step for step in missing if step.name != "clocks/test.sql"]
        missing += [_step("clocks", path, once=False) for path in _sql_files("clocks")]
    return missing


def _finish(conn: psycopg.Connection[Any], environment: str, *, test_clock: bool) -> None:
    with conn.transaction():
        conn.execute(
            "insert into crontick.installation (environment, version, oldest_code) values (%s, %s, %s)"
            " on conflict (singleton) do update set version = excluded.version, oldest_code = excluded.oldest_code"
            " where crontick.installation.version < excluded.version",
            (environment, SCHEMA, OLDEST_CODE),
        )
        if test_clock:
            conn.execute("insert into crontick.test_clock (ahead) values ('0') on conflict do nothing")
        # Always, for a role may have been made since.
        conn.execute(_folder().joinpath("grants.sql").read_bytes())
