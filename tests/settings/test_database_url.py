"""Database URLs written for other clients are understood, and a password in one is never quoted."""

import re

import pytest

from crontick.jobs.database_url import libpq_url, server_names


@pytest.mark.parametrize(
    ("given", "libpq"),
    [
        ("postgresql://app:pw@db:5432/app", "postgresql://app:pw@db:5432/app"),
        ("postgres://app:pw@db/app", "postgresql://app:pw@db/app"),
        ("postgresql+psycopg://app:pw@db/app", "postgresql://app:pw@db/app"),
        ("postgresql+asyncpg://app:pw@db/app?ssl=require", "postgresql://app:pw@db/app?sslmode=require"),
        ("postgres://app@db/app?ssl=true", "postgresql://app@db/app?sslmode=require"),
        ("postgres://app@db/app?ssl=false", "postgresql://app@db/app?sslmode=disable"),
        ("postgres://db/app?pgbouncer=true&connection_limit=1&pool_timeout=0&schema=s", "postgresql://db/app"),
        (
            "postgres://a@h1:1,h2:2/app?target_session_attrs=any",
            "postgresql://a@h1:1,h2:2/app?target_session_attrs=any",
        ),
        ("postgres://a:b?c@db/app", "postgresql://a:b?c@db/app"),
        ("postgres:///app?options=-c%20search_path%3Da", "postgresql:///app?options=-c%20search_path%3Da"),
        (" host=db dbname=app ", "host=db dbname=app"),
    ],
)
def test_urls_of_other_clients_reach_libpq(given: str, libpq: str) -> None:
    assert libpq_url(given) == libpq


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("mysql://app:hunter2@db/app", "must begin with postgresql://"),
        ("sqlite:////var/hunter2", "must begin with postgresql://"),
        ("postgres://app:hunter2@db/app?sslaccept=strict", "the parameter 'sslaccept'"),
        ("postgres://app:hunter2@db/app?ssl=hunter2", "ssl that says nothing"),
        ("postgres://app:hunter/?hunter2@db/app", "cannot be read"),
        ("postgres://app:hunter2%zz@db/app", "cannot be read"),
        ("host=db password=hunter2 colour=red", "cannot be read"),
        ("hunter2", "cannot be read"),
    ],
)
def test_a_url_that_cannot_be_used_is_told_without_its_password(given: str, why: str) -> None:
    with pytest.raises(ValueError, match=re.escape(why)) as raised:
        libpq_url(given)
    assert "hunter" not in str(raised.value)
    assert raised.value.__cause__ is None


@pytest.mark.parametrize(
    ("url", "servers"),
    [
        ("postgresql://app:hunter2@db.example:6432/x", "db.example, port 6432"),
        ("postgresql://app:hunter2@db.example/x", "db.example, port 5432"),
        ("postgresql://app:hunter2@a:1,b:2/x", "a, port 1, b, port 2"),
        ("host=a,b port=7 password=hunter2 user=app", "a, port 7, b, port 7"),
        ("postgresql://app:hunter2@/x?host=/run/postgresql", "/run/postgresql, port 5432"),
        ("hostaddr=127.0.0.1 password=hunter2", "127.0.0.1, port 5432"),
    ],
)
def test_servers_are_named_without_user_and_password(url: str, servers: str) -> None:
    assert server_names(url) == servers
