"""The connection of a tick: no session state, nothing prepared, so that it works through any transaction pooler."""

import asyncio
import os
from ipaddress import ip_address
from typing import Any, Final

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from crontick.jobs.resolve import Resolver, resolve

__all__ = ["connect"]

_DEFAULT_PORT: Final = 5432


async def connect(url: str, *, timeout_seconds: float, resolver: Resolver = resolve) -> psycopg.AsyncConnection[Any]:
    """An open connection in autocommit mode. Raises ``psycopg.OperationalError`` or ``TimeoutError``.

    The time-out is asyncio's, which is exact; libpq's ``connect_timeout`` waits two seconds at least.
    """
    async with asyncio.timeout(timeout_seconds):
        return await psycopg.AsyncConnection.connect(
            await _resolved(url, resolver),
            autocommit=True,
            prepare_threshold=None,
            fallback_application_name="crontick",
        )


async def _resolved(url: str, resolver: Resolver) -> str:
    """The same servers with their addresses, so that psycopg resolves none on asyncio's own threads (P7).

    The names stay beside the addresses: certificates are checked against them. A server of several addresses becomes
    as many, in the resolver's order; one that cannot be resolved is left out while another can.
    """
    given = conninfo_to_dict(url)
    hosts = str(given.get("host") or os.environ.get("PGHOST") or "").split(",")
    ports = str(given.get("port") or os.environ.get("PGPORT") or _DEFAULT_PORT).split(",")
    addressed = given.get("hostaddr") or os.environ.get("PGHOSTADDR") or given.get("service")
    if addressed or not any(map(_is_name, hosts)) or len(ports) not in (1, len(hosts)):
        return url
    ports = ports * len(hosts) if len(ports) == 1 else ports
    answers = await asyncio.gather(*(_addresses(host, resolver) for host in hosts), return_exceptions=True)
    servers = []
    for host, port, answer in zip(hosts, ports, answers, strict=True):
        if not isinstance(answer, BaseException):
            servers += [(host, address, port) for address in answer]
        elif not isinstance(answer, OSError):
            raise answer
    if not servers:
        said = next(answer for answer in answers if isinstance(answer, OSError))
        raise psycopg.OperationalError(f"failed to resolve host {','.join(hosts)!r}: {said}")
    names, addresses, numbers = (",".join(column) for column in zip(*servers, strict=True))
    return make_conninfo(url, host=names, hostaddr=addresses, port=numbers)


async def _addresses(host: str, resolver: Resolver) -> list[str]:
    """An empty one for a socket, whose name is a folder's."""
    if not _is_name(host):
        return [host if _is_address(host) else ""]
    found = list(await resolver(host, 0))
    if not found:
        raise OSError(f"{host} has no address")
    return found


def _is_name(host: str) -> bool:
    return bool(host) and not host.startswith(("/", "@")) and not _is_address(host)


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
