"""A database of a test run's own, with crontick's schema and its test clock."""

import os
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Final
from urllib.parse import quote, urlencode, urlsplit, urlunsplit

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from crontick.jobs.environ import Environ
from crontick.jobs.settings import SettingsError
from crontick.sql.embedded import FAST, postgres
from crontick.sql.migrate import migrate

__all__ = ["fresh_database"]

_NAMES: Final = ("CRONTICK_TEST_DATABASE_URL", "CRONTICK_DATABASE_URL", "DATABASE_URL")


@contextmanager
def fresh_database(environ: Mapping[str, str] = os.environ) -> Iterator[str]:
    """The URL of a new database on the server of the first variable that is set, else on an embedded one.

    It is migrated, its environment is ``test``, and it is dropped afterwards with whoever is still connected. What is
    in the database that the variable names is not touched.
    """
    url = _server_url(environ)
    server = postgres(settings=FAST) if url is None else nullcontext(url)
    with server as admin_url, psycopg.connect(admin_url, autocommit=True) as admin:
        name = f"crontick_test_{uuid.uuid4().hex[:12]}"
        try:
            admin.execute(sql.SQL("create database {}").format(sql.Identifier(name)))
        except psycopg.errors.InsufficientPrivilege:
            raise RuntimeError(
                f"the role {admin.info.user} may not create a database for the tests: `alter role … createdb`, or set"
                " CRONTICK_TEST_DATABASE_URL to a server where it may"
            ) from None
        try:
            fresh = _in_database(admin_url, name)
            migrate(fresh, environment="test", test_clock=True)
            yield fresh
        finally:
            admin.execute(sql.SQL("drop database {} with (force)").format(sql.Identifier(name)))


def _server_url(environ: Mapping[str, str]) -> str | None:
    read = Environ(environ)
    urls = [url for name in _NAMES if (url := read.url(name))]
    if read.sentences:
        raise SettingsError(read.sentences)
    return urls[0] if urls else None


def _in_database(url: str, name: str) -> str:
    """As a URL, which SQLAlchemy and others read too, also where libpq's ``key=value`` was given."""
    if "://" in url:
        return urlunsplit(urlsplit(url)._replace(path=f"/{name}"))
    told = {key: str(value) for key, value in conninfo_to_dict(url).items() if key != "dbname"}
    user, password = quote(told.pop("user", ""), safe=""), quote(told.pop("password", ""), safe="")
    who = f"{user}:{password}@" if password else f"{user}@" if user else ""
    return f"postgresql://{who}/{name}?{urlencode(told)}"
