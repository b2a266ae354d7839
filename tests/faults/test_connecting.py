"""How a tick finds its database: names are resolved on threads of our own, and the time-out is exact (P7)."""

import asyncio
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import psycopg
import pytest
import trustme

from crontick.jobs.connect import connect
from crontick.sql.embedded import FAST, postgres
from tests.conftest import DEBIAN15
from tests.worlds.proxy import Proxy

pytestmark = pytest.mark.anyio
ADDRESSES = {"db.internal": ["127.0.0.1"], "two.internal": ["127.0.0.2", "127.0.0.1"]}


async def addresses(host: str, _port: int) -> Sequence[str]:
    if host not in ADDRESSES:
        raise OSError(-2, "Name or service not known")
    return ADDRESSES[host]


def port_of(proxy: Proxy) -> int:
    port = urlsplit(proxy.url).port
    assert port is not None
    return port


def url_of(proxy: Proxy, servers: str) -> str:
    return f"postgresql://postgres@{servers}{urlsplit(proxy.url).path}"


async def test_a_name_is_resolved_outside_of_asyncio_s_own_threads(proxy: Proxy) -> None:
    async with await connect(url_of(proxy, f"localhost:{port_of(proxy)}"), timeout_seconds=10) as conn:
        assert (conn.info.host, conn.info.hostaddr) == ("localhost", "127.0.0.1")
    assert getattr(asyncio.get_running_loop(), "_default_executor", None) is None


async def test_a_resolver_that_hangs_holds_it_no_longer_than_the_time_out(proxy: Proxy) -> None:
    async def hanging(_host: str, _port: int) -> Sequence[str]:
        await asyncio.Event().wait()
        return []

    loop = asyncio.get_running_loop()
    began = loop.time()
    with pytest.raises(TimeoutError):
        await connect(url_of(proxy, "slow.internal:1"), timeout_seconds=0.2, resolver=hanging)
    assert loop.time() - began < 1


@pytest.mark.parametrize(
    "servers",
    [
        "db.internal:{port}",
        "two.internal:{port}",  # nobody listens at the first of its addresses
        "nowhere.internal:{port},db.internal:{port}",
        "db.internal:{port},nowhere.internal:1",
        "127.0.0.1:1,db.internal:{port}",
        "db.internal:1,127.0.0.1:{port}",
    ],
)
async def test_any_server_that_answers_will_do(proxy: Proxy, servers: str) -> None:
    url = url_of(proxy, servers.format(port=port_of(proxy)))
    async with await connect(url, timeout_seconds=10, resolver=addresses) as conn:
        assert conn.info.port == port_of(proxy)


async def test_one_port_serves_all_hosts_of_a_list(proxy: Proxy) -> None:
    told = (
        f"host=nowhere.internal,db.internal port={port_of(proxy)} user=postgres dbname={urlsplit(proxy.url).path[1:]}"
    )
    async with await connect(told, timeout_seconds=10, resolver=addresses) as conn:
        assert conn.info.host == "db.internal"


async def test_a_name_that_nobody_knows_is_said_to_be_one(proxy: Proxy) -> None:
    with pytest.raises(psycopg.OperationalError, match=r"failed to resolve host 'nowhere\.internal'"):
        await connect(url_of(proxy, "nowhere.internal:1"), timeout_seconds=10, resolver=addresses)


async def unasked(host: str, _port: int) -> Sequence[str]:
    raise AssertionError(f"{host} needs no resolver")


async def test_a_socket_needs_no_resolver(database: str) -> None:
    assert parse_qs(urlsplit(database).query)["host"][0].startswith("/")
    async with await connect(database, timeout_seconds=10, resolver=unasked) as conn:
        assert conn.info.status == psycopg.pq.ConnStatus.OK


async def test_a_socket_stands_beside_names_in_a_list(database: str, proxy: Proxy) -> None:
    folder, port = parse_qs(urlsplit(database).query)["host"][0], urlsplit(database).port or 5432
    name = urlsplit(proxy.url).path[1:]
    told = f"host=nowhere.internal,{folder},db.internal port=1,{port},1 user=postgres dbname={name}"
    async with await connect(told, timeout_seconds=10, resolver=addresses) as conn:
        assert conn.info.host == folder


async def test_an_address_that_is_given_beside_the_name_is_used(proxy: Proxy) -> None:
    url = url_of(proxy, f"db.internal:{port_of(proxy)}") + "?hostaddr=127.0.0.1"
    async with await connect(url, timeout_seconds=10, resolver=unasked) as conn:
        assert conn.info.host == "db.internal"


@pytest.fixture(scope="module")
def tls() -> Iterator[str]:
    """The URL, without its host, of a server whose certificate is for db.internal."""
    if not DEBIAN15.exists():
        pytest.skip("Debian's PostgreSQL 15 is not here: apt-get install postgresql-15")
    authority = trustme.CA()
    with tempfile.TemporaryDirectory(prefix="crontick-tls-", dir="/tmp") as made:
        folder = Path(made)
        folder.chmod(0o755)
        certificate = authority.issue_cert("db.internal")
        key, chain, trusted = folder / "key.pem", folder / "chain.pem", folder / "ca.pem"
        certificate.private_key_pem.write_to_path(key)
        certificate.cert_chain_pems[0].write_to_path(chain)
        authority.cert_pem.write_to_path(trusted)
        key.chmod(0o600)
        if os.geteuid() == 0:
            shutil.chown(key, "nobody")  # whom root runs the server as
        settings = {**FAST, "ssl": "on", "ssl_cert_file": str(chain), "ssl_key_file": str(key)}
        with postgres(settings=settings, bindir=DEBIAN15, port=0) as url:
            yield f":{urlsplit(url).port}/postgres?sslmode=verify-full&sslrootcert={trusted}"


async def test_a_certificate_is_checked_against_the_name_not_the_address(tls: str) -> None:
    async with await connect(f"postgresql://postgres@db.internal{tls}", timeout_seconds=10, resolver=addresses) as conn:
        assert conn.pgconn.ssl_in_use
    with pytest.raises(psycopg.OperationalError, match=r"does not match host name|certificate"):
        await connect(f"postgresql://postgres@two.internal{tls}", timeout_seconds=10, resolver=addresses)
