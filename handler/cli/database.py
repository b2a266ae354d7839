"""A command's connection: named queries in, rows out."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, Union

import psycopg
from psycopg.rows import dict_row

from crontick.handler.cli.screen import complain
from crontick.jobs.database_url import server_names
from crontick.jobs.settings import Settings, SettingsError
from crontick.jobs.unavailable import Unavailable, refused_login, unavailable
from crontick.sql import query

if TYPE_CHECKING:
    from crontick.handler.cli.remote import Remote

CONNECT_SECONDS: Final = 20

Connection = psycopg.Connection[dict[str, Any]]
There = Union[Connection, "Remote"]


def settings() -> Settings:
    """Those of the environment, which must name a database; raises ``SettingsError``."""
    read = Settings.from_environ(os.environ)
    if read.database_url is None:
        raise SettingsError(
            ["CRONTICK_DATABASE_URL is not set, nor DATABASE_URL: name the PostgreSQL that has the jobs"]
        )
    return read


@contextmanager
def naming(url: str) -> Iterator[None]:
    """Inside, a database out of reach is told with its host and port: whoever runs a command knows its settings.

    One that lets nobody in is ``Unavailable`` as well.
    """
    try:
        yield
    except (psycopg.OperationalError, OSError, TimeoutError, Unavailable) as error:
        told = error if isinstance(error, Unavailable) else unavailable(error)
        if told.out_of_reach:
            raise Unavailable(f"{told.reason}: {server_names(url)}", out_of_reach=True) from None
        if refused_login(error) is not None:
            raise told from None
        raise


@contextmanager
def connected() -> Iterator[Connection]:
    """A connection to the jobs, each statement its own transaction; the database's warnings go to stderr."""
    url = settings().database_url
    assert url is not None  # settings() refused that
    with (
        naming(url),
        psycopg.connect(
            url,
            autocommit=True,
            prepare_threshold=None,
            connect_timeout=CONNECT_SECONDS,
            row_factory=dict_row,
            fallback_application_name="crontick command line",
        ) as conn,
    ):
        conn.add_notice_handler(_told)
        yield conn


@contextmanager
def reached(url: str | None) -> Iterator["There"]:
    """The jobs: in the database of the environment, or behind the API of the deployment at that URL."""
    if url is None:
        with connected() as conn:
            yield conn
        return
    from crontick.handler.cli.remote import remote

    with remote(url) as there:
        yield there


def ask(conn: "There", name: str, values: Mapping[str, Any] | None = None) -> list[dict[str, Any]]:
    """The rows of a query file."""
    if not isinstance(conn, psycopg.Connection):
        return conn.ask(name, values or {})
    return conn.execute(query(name).text.encode(), values).fetchall()


def ask_one(conn: "There", name: str, values: Mapping[str, Any] | None = None) -> Any:
    """The only value of the only row."""
    [row] = ask(conn, name, values)
    [value] = row.values()
    return value


def _told(notice: psycopg.errors.Diagnostic) -> None:
    hint = f" ({notice.message_hint})" if notice.message_hint else ""
    complain(f"{(notice.severity or 'notice').lower()}: {notice.message_primary}{hint}")
