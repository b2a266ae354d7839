"""Database URLs as other clients write them really connect: with TLS, a password, and whatever stands in it."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlsplit

import psycopg
import pytest
import trustme
from psycopg import sql

from crontick.jobs.database_url import libpq_url
from crontick.jobs.link import Link
from crontick.jobs.unavailable import unavailable
from crontick.sql.embedded import FAST, postgres
from tests.conftest import DEBIAN15
from tests.worlds.memory import memory_folder
from tests.worlds.waiting import until

PASSWORD = "p@ss/w?rd#%:[1] 'x'&=\xfc"
MILD = "p@ss?#:'&=\xfc"
"""What other clients take as it is."""


@dataclass(frozen=True, slots=True)
class Server:
    """Where it listens, and the pieces that the URLs are made of."""

    port: int
    sockets: str
    authority: str

    def filled(self, form: str) -> str:
        pieces = {"port": self.port, "sockets": quote(self.sockets, safe=""), "folder": self.sockets}
        return form.format(**pieces, password=quote(PASSWORD, safe=""), mild=MILD, ca=self.authority)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A PostgreSQL with TLS, which the wheel's is built without, that asks for passwords."""
    if not DEBIAN15.exists():
        pytest.skip("Debian's PostgreSQL 15 is not here: apt-get install postgresql-15")
    with memory_folder() as folder, postgres(folder, port=0, bindir=DEBIAN15, settings=FAST) as url:
        with psycopg.connect(url, autocommit=True) as admin:
            sockets, data = (_shown(admin, name) for name in ("unix_socket_directories", "data_directory"))
            _secure(Path(data))
            admin.execute("alter system set ssl = on")
            admin.execute("select pg_reload_conf()")
            admin.execute("create role app superuser login")
            admin.execute('create role "postgres.abcdefgh" login')
            admin.execute("create role mild login")
            admin.execute("create role nologin password 'known'")
            for role, password in (("app", PASSWORD), ('"postgres.abcdefgh"', PASSWORD), ("mild", MILD)):
                admin.execute(f"alter role {role} password {sql.quote(password)}".encode())
            admin.execute("create database app")
            until(lambda: _shown(admin, "ssl") == "on")
        port = urlsplit(url).port
        assert port is not None
        yield Server(port, sockets, str(Path(data) / "ca.pem"))


def _shown(conn: psycopg.Connection[tuple[object, ...]], name: str) -> str:
    row = conn.execute("select current_setting(%s)", [name]).fetchone()
    assert row is not None
    return str(row[0])


def _secure(data: Path) -> None:
    authority = trustme.CA()
    certificate = authority.issue_cert("localhost", "127.0.0.1")
    certificate.private_key_pem.write_to_path(data / "server.key")
    certificate.cert_chain_pems[0].write_to_path(data / "server.crt")
    authority.cert_pem.write_to_path(data / "ca.pem")
    owner = data.stat()
    for name in ("server.key", "server.crt", "ca.pem"):
        os.chown(data / name, owner.st_uid, owner.st_gid)
        (data / name).chmod(0o600)
    rules = ["host all postgres 127.0.0.1/32 trust", "hostnossl all all all scram-sha-256"]
    rules += ["hostssl all all all scram-sha-256", "local all all scram-sha-256", ""]
    (data / "pg_hba.conf").write_text("\n".join(rules))


WITH_TLS = (
    "postgresql://app:{password}@127.0.0.1:{port}/app?sslmode=require",
    "postgresql://app:{password}@127.0.0.1:{port}/app?sslmode=require&channel_binding=require",
    "postgresql://app:{password}@localhost:{port}/app?sslmode=verify-full&sslrootcert={ca}",
    "postgresql+asyncpg://app:{password}@127.0.0.1:{port}/app?ssl=verify-full&sslrootcert={ca}",
    "postgresql+asyncpg://app:{password}@127.0.0.1:{port}/app?ssl=require&prepared_statement_cache_size=0",
    "postgres://app:{password}@127.0.0.1:{port}/app?sslmode=no-verify&uselibpqcompat=true",
    "postgres://app:{password}@127.0.0.1:{port}/app?ssl=true&pool=5",
    "postgres://postgres.abcdefgh:{password}@127.0.0.1:{port}/app?sslmode=require&supa=base-pooler.x",
    "postgres://mild:{mild}@127.0.0.1:{port}/app?sslmode=require",
    "postgres://app:{password}@127.0.0.1:1,127.0.0.1:{port}/app?sslmode=require&target_session_attrs=any",
    "host=127.0.0.1 port={port} dbname=app user=mild password='p@ss?#:\\'&=\xfc' sslmode=require",
)
WITHOUT = (
    "'postgresql://app:{password}@127.0.0.1:{port}/app?ssl=false'",
    "POSTGIS://app:{password}@127.0.0.1:{port}/app?sslmode=disable&conn_max_age=600",
    "postgres://app:{password}@127.0.0.1:{port}/app?sslmode=disable&schema=public&connection_limit=1&pgbouncer=true",
    "postgresql+psycopg2://app:{password}@:{port}/app?host={folder}",
    "postgresql://app:{password}@{sockets}:{port}/app",
    "postgres://app:{password}@/app?host={sockets}&port={port}",
)


@pytest.mark.parametrize(("form", "tls"), [*((form, True) for form in WITH_TLS), *((form, False) for form in WITHOUT)])
def test_a_url_connects_with_what_it_says(server: Server, form: str, *, tls: bool) -> None:
    with psycopg.connect(libpq_url(server.filled(form))) as conn:
        row = conn.execute("select current_database(), ssl from pg_stat_ssl where pid = pg_backend_pid()").fetchone()
    assert row == ("app", tls)


@pytest.mark.parametrize(
    "form",
    [
        "postgresql://app:{password}@127.0.0.1:{port}/app?sslmode=verify-full&sslrootcert=/nowhere.pem",
        "postgresql://app:{password}@another.example:{port}/app?hostaddr=127.0.0.1&sslmode=verify-full&sslrootcert={ca}",
        "postgresql://app:{password}@127.0.0.1:{port}/app?sslmode=verify-full&sslrootcert=system",
    ],
)
def test_tls_that_fails_is_not_told_as_a_database_out_of_reach(server: Server, form: str) -> None:
    with pytest.raises(psycopg.OperationalError) as raised:
        psycopg.connect(libpq_url(server.filled(form)))
    assert unavailable(raised.value).reason.startswith("TLS with the database fails: see sslmode and sslrootcert")


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ("mild:wr0ng@127.0.0.1:{port}/app", "the database refuses the role or its password: see CRONTICK_DATABASE_URL"),
        ("mild@127.0.0.1:{port}/app", "the database asks for a password: put it into CRONTICK_DATABASE_URL"),
        ("nologin:known@127.0.0.1:{port}/app", "the database role has no login: use one that is a member of it"),
        ("app:{password}@127.0.0.1:{port}/nodb", "the server has no such database: create it, or see CRON"),
        ("postgres@127.0.0.1:{port}/nodb", "the server has no such database: create it, or see CRONTICK_DATABASE_URL"),
    ],
)
@pytest.mark.anyio
async def test_a_login_that_is_refused_is_told_at_once_and_with_its_mend(server: Server, form: str, said: str) -> None:
    """The link has an hour to try again in, and does not."""
    link = Link(libpq_url(server.filled(f"postgresql://{form}")), lambda: 3600.0)
    with pytest.raises(psycopg.OperationalError) as raised:
        await link.tell([])
    told = unavailable(raised.value)
    assert (told.reason.startswith(said), told.out_of_reach) == (True, False), told.reason
