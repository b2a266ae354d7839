"""Whether a webhook to a URL would go out, judged by the very door that it would go through (P35)."""

import asyncio
from collections.abc import Mapping, Sequence
from ipaddress import ip_address
from typing import Any, Final

import httpcore
import msgspec

from crontick.jobs.kinds.settings import HttpSettings
from crontick.jobs.kinds.targets import check_scheme
from crontick.jobs.outbound import NotConnected, client, send
from crontick.jobs.resolve import Resolver, resolve
from crontick.jobs.signals import Permanent

__all__ = ["Verdict", "judge", "refusal"]

_ANY_PUBLIC: Final = ["1.1.1.1"]


class Verdict(msgspec.Struct, frozen=True):
    """Whether a webhook would go out, and where to; ``reason`` says why not."""

    allowed: bool
    addresses: list[str]
    reason: str | None = None


async def judge(
    url: str, http: HttpSettings, names: Mapping[str, Sequence[str]], *, others: Resolver = resolve
) -> Verdict:
    """What an attempt would come to, by the very door that it goes through; ``names`` answers before ``others``.

    Nothing is connected to.
    """
    tried: list[str] = []

    class Unconnected(httpcore.AsyncNetworkBackend):
        async def connect_tcp(self, host: str, port: int, *_: Any, **__: Any) -> httpcore.AsyncNetworkStream:
            tried.append(_shown(host, port))
            raise httpcore.ConnectError("nothing is connected to")

    async def answer(host: str, port: int) -> Sequence[str]:
        known = names.get(host.lower())
        return known if known is not None else await others(host, port)

    async with client(http, resolver=answer, network=Unconnected()) as door:
        try:
            check_scheme(url, http)
            await send(door, url, content=b"", headers={}, seconds=10)
        except Permanent as refused:
            return Verdict(allowed=False, addresses=[], reason=str(refused))
        except NotConnected as error:
            if not tried:
                return Verdict(allowed=False, addresses=[], reason=str(error))
    return Verdict(allowed=True, addresses=tried)


def refusal(url: str, http: HttpSettings) -> str | None:
    """Why no webhook can go to that URL as it is written, None if one may; no name is looked up."""

    async def public(_host: str, _port: int) -> Sequence[str]:
        return _ANY_PUBLIC

    return asyncio.run(judge(url, http, {"localhost": ["127.0.0.1"]}, others=public)).reason


def _shown(address: str, port: int) -> str:
    return f"[{address}]:{port}" if ip_address(address).version == 6 else f"{address}:{port}"
