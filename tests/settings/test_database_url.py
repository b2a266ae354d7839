"""Database URLs written for other clients are understood, and a password in one is never quoted."""

import re

import pytest

from crontick.jobs.database_url import libpq_url, password, server_names
from crontick.jobs.redact import Redactor
from crontick.jobs.settings import Settings

AS_THEY_ARE = (
    "postgresql://app:pw@db:5432/app",
    "postgresql:///app",
    "postgresql://app@[::1]:5432/app",
    "postgresql://app@h1:1,h2:2/app?target_session_attrs=any",
    "postgresql://app@h1,h2,[::1]:5/app",
    "postgresql://postgres.abcdefgh:pw@aws-0-eu-central-1.pooler.supabase.com:6543/postgres",
    "postgresql://app@%2Fvar%2Frun%2Fpostgresql/app",
    "postgresql://app:pw@ep-x-1-pooler.eu-central-1.aws.neon.tech/app?sslmode=require&channel_binding=require",
    "postgresql://app:pw@ep-x-1.neon.tech/app?options=endpoint%3Dep-x-1&sslmode=require",
    "postgresql://app:pw@db.rds.amazonaws.com/app?sslmode=verify-full&sslrootcert=%2Fetc%2Frds.pem",
    "postgresql:///app?options=-c%20search_path%3Da",
    "host=db dbname=app user=app password='p w'",
    "service=app",
)
TRANSLATED = (
    ("postgres://app:pw@db/app", "postgresql://app:pw@db/app"),
    ("POSTGRES://app:pw@db/app", "postgresql://app:pw@db/app"),
    ("postgis://app:pw@db/app", "postgresql://app:pw@db/app"),
    ("pgsql://app:pw@db/app", "postgresql://app:pw@db/app"),
    (" postgres://db/app\n", "postgresql://db/app"),
    ("'postgres://db/app'", "postgresql://db/app"),
    ('"postgres://db/app" ', "postgresql://db/app"),
    ("' host=db dbname=app '", "host=db dbname=app"),
    ("postgresql+psycopg://app:pw@db/app", "postgresql://app:pw@db/app"),
    ("postgresql+psycopg2://app:pw@/app?host=/var/run", "postgresql://app:pw@/app?host=%2Fvar%2Frun"),
    ("postgresql+asyncpg://db/app?ssl=require", "postgresql://db/app?sslmode=require"),
    ("postgresql+asyncpg://db/app?ssl=verify-full", "postgresql://db/app?sslmode=verify-full"),
    ("postgresql+asyncpg://db/app?prepared_statement_cache_size=0&statement_cache_size=0", "postgresql://db/app"),
    ("postgres://db/app?ssl=true", "postgresql://db/app?sslmode=require"),
    ("postgres://db/app?ssl=false", "postgresql://db/app?sslmode=disable"),
    ("postgres://db/app?sslmode=no-verify&uselibpqcompat=true", "postgresql://db/app?sslmode=require"),
    ("postgres://db/app?sslmode=Require", "postgresql://db/app?sslmode=require"),
    ("postgres://db/app?pgbouncer=true&connection_limit=1&pool_timeout=0&schema=s", "postgresql://db/app"),
    ("postgres://db/app?sslaccept=accept_invalid_certs&sslmode=prefer", "postgresql://db/app?sslmode=prefer"),
    ("postgres://db/app?conn_max_age=600&conn_health_checks=true", "postgresql://db/app"),
    ("postgres://db/app?pool=5&encoding=unicode&prepared_statements=false", "postgresql://db/app"),
    ("postgres://db/app?pool_max_conns=10&default_query_exec_mode=exec", "postgresql://db/app"),
    ("postgres://db/app?sslmode=require&supa=base-pooler.x", "postgresql://db/app?sslmode=require"),
    ("postgres://app:p@ss@db/app", "postgresql://app:p%40ss@db/app"),
    ("postgres://app:a?b@db/app", "postgresql://app:a%3Fb@db/app"),
    ("postgres://app:a#b@db/app", "postgresql://app:a%23b@db/app"),
    ("postgres://app:a b@db/app", "postgresql://app:a%20b@db/app"),
    ("postgres://app:p[w]@db/app", "postgresql://app:p%5Bw%5D@db/app"),
    ("postgres://app:p%40%2Fw@db/app", "postgresql://app:p%40%2Fw@db/app"),
    ("postgres://app:schl\xfcssel@db/app", "postgresql://app:schl%C3%BCssel@db/app"),
    ("postgres://app:a:b@db/app", "postgresql://app:a:b@db/app"),
    ("postgres://db/app?application_name=a b", "postgresql://db/app?application_name=a%20b"),
    ("postgres://app@/app?host=%2Fcloudsql%2Fp:r:i", "postgresql://app@/app?host=%2Fcloudsql%2Fp%3Ar%3Ai"),
)


@pytest.mark.parametrize("url", AS_THEY_ARE)
def test_what_libpq_reads_stays_as_it_is(url: str) -> None:
    assert libpq_url(url) == url


@pytest.mark.parametrize(("given", "libpq"), TRANSLATED)
def test_urls_of_other_clients_reach_libpq(given: str, libpq: str) -> None:
    assert libpq_url(given) == libpq


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("mysql://app:hunter2@db/app", "must begin with postgresql://"),
        ("sqlite:////var/hunter2", "must begin with postgresql://"),
        ("jdbc:postgresql://db/app?user=app&password=hunter2", "is a JDBC URL of Java: write postgresql://"),
        ("r2dbc:postgresql://app:hunter2@db/app", "is a R2DBC URL of Java"),
        ("Host=db;Username=app;Password=hunter2;Database=app", "is a connection string of .NET: write postgresql://"),
        ("Server=db;Port=5432;User Id=app;Password=hunter2;", "is a connection string of .NET"),
        ("User ID=app;Password=hunter2;Host=db;Database=app", "is a connection string of .NET"),
        ("prisma+postgres://accelerate.prisma-data.net/?api_key=hunter2", "is a URL of Prisma's own service"),
        ("psql 'postgresql://app:hunter2@db/app'", "begins with the command psql"),
        ("DATABASE_URL=postgresql://app:hunter2@db/app", "begins with a variable's name"),
        ("postgresql:/app:hunter2@db/app", "has no // after its scheme"),
        ("postgres://app:[YOUR-PASSWORD]@db/app", "has a placeholder in it"),
        ("postgres://app:${DB_PASSWORD}@db/app", "has a placeholder in it"),
        ("postgres://app:<password>@db/app", "has a placeholder in it"),
        ("postgres://$USER@db/app", "has a placeholder in it"),
        ("postgres://app:hunter2@db/app?sslaccept=strict", "the parameter 'sslaccept': write sslmode=verify-full"),
        ("postgres://app:hunter2@db/app?ssl=hunter2", "ssl that says nothing"),
        ("postgres://app:hunter2@db/app?sslmode=hunter2", "sslmode that says nothing"),
        ("postgres://app:hunter2@db/app?sslidentity=x", "has the parameter 'sslidentity'"),
        ("postgres://app:hunter2@db/app?SSLMODE=require", "has the parameter 'SSLMODE'"),
        ("postgres://app:hunter2@/app?host=h1:1&host=h2:2", "names host more than once"),
        ("postgres://app:hunter/?hunter2@db/app", "cannot be read: percent-encode"),
        ("postgres://app:hunter/2@db/app", "cannot be read: percent-encode"),
        ("postgres://app:123/hunter2@db/app", "cannot be read: percent-encode"),
        ("postgres://app:hunter2@db:hunter/app", "cannot be read: percent-encode"),
        ("postgres://app:hunter2%zz@db/app", "cannot be read: percent-encode"),
        ("host=db password=hunter2 colour=red", "cannot be read as libpq's keywords and values"),
        ("hunter2", "is no URL"),
        ("", "is empty"),
        ("''", "is empty"),
    ],
)
def test_a_url_that_cannot_be_used_is_told_without_its_password(given: str, why: str) -> None:
    with pytest.raises(ValueError, match=re.escape(why)) as raised:
        libpq_url(given)
    assert "hunter" not in str(raised.value)
    assert raised.value.__cause__ is None


@pytest.mark.parametrize("url", ["postgres://app:s3cret@word@db/app", "host=db password=s3cret@word"])
def test_a_password_is_taken_out_of_texts_however_the_url_was_written(url: str) -> None:
    assert password(libpq_url(url)) == "s3cret@word"
    settings = Settings.from_environ({"DATABASE_URL": url})
    assert Redactor(settings.secrets)("it was s3cret@word") == "it was [redacted]"


def test_a_url_without_a_password_has_none() -> None:
    assert password("postgresql://app@db/app") is None


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
