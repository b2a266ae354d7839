"""Where a request whose URL came with data may go, and that nothing is sent to where it may not."""

from collections.abc import Sequence
from typing import Any

import httpcore
import httpx
import pytest

from crontick.jobs.kinds.settings import HttpSettings
from crontick.jobs.outbound import NotConnected, Refused, client, send
from tests.kinds.cases import cases

PUBLIC = "93.184.216.34"


class Recorder(httpcore.AsyncNetworkBackend):
    """In the network's place: notes each attempt to connect, and lets none succeed."""

    def __init__(self) -> None:
        self.tried: list[tuple[str, int]] = []

    async def connect_tcp(self, host: str, port: int, *_: Any, **__: Any) -> httpcore.AsyncNetworkStream:
        self.tried.append((host, port))
        raise httpcore.ConnectError("only noted")


async def attempt(
    url: str, names: dict[str, Any] | None = None, **options: Any
) -> tuple[Exception, list[tuple[str, int]]]:
    """What a request to ``url`` fails with, and the connections that were tried for it."""
    looked_up: dict[str, int] = {}

    async def resolver(host: str, _port: int) -> Sequence[str]:
        answers = (names or {}).get(host, [])
        nth = looked_up[host] = looked_up.get(host, -1) + 1
        if answers and isinstance(answers[0], list):
            return list(answers[min(nth, len(answers) - 1)])
        return list(answers)

    network = Recorder()
    settings = HttpSettings(allow=options.pop("allow", ()))
    async with client(settings, resolver=resolver, network=network, **options) as door:
        with pytest.raises((Refused, NotConnected)) as raised:
            await send(door, url, content=b"{}", headers={}, seconds=5)
    return raised.value, network.tried


@pytest.mark.parametrize("case", [case for case in cases("ssrf") if case.values[0]["verdict"] == "block"])
async def test_a_forbidden_target_is_refused_without_a_connection(case: dict[str, Any]) -> None:
    error, tried = await attempt(case["url"], case.get("dns"))
    if (
        "rebind" in case["url"]
    ):  # the first answer was public: it is the one connected to, and there is no second question
        assert tried == [(PUBLIC, 443)]
    else:
        assert isinstance(error, Refused), error
        assert tried == []


@pytest.mark.parametrize("case", [case for case in cases("ssrf") if case.values[0]["verdict"] == "allow"])
async def test_a_public_target_is_tried_at_the_address_that_was_checked(case: dict[str, Any]) -> None:
    _, tried = await attempt(case["url"], case.get("dns"))
    host = httpx.URL(case["url"]).raw_host.decode()
    assert [address for address, _ in tried] == case.get("dns", {}).get(host, [host])


async def test_a_name_without_an_address_may_have_one_later() -> None:
    error, tried = await attempt("https://nxdomain.customer.example/hook")
    assert isinstance(error, NotConnected)
    assert tried == []


async def test_a_refusal_says_the_rule_and_not_the_address() -> None:
    error, _ = await attempt("https://internal.customer.example/hook", {"internal.customer.example": ["10.1.2.3"]})
    assert "10.1.2.3" not in str(error)
    assert "[http] allow" in str(error)
    assert error.nothing_sent is True  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["crm.internal", "crm.internal:9000", "CRM.internal."])
async def test_a_named_private_target_is_reached_at_any_port(name: str) -> None:
    _, tried = await attempt("http://crm.internal:9000/", {"crm.internal": ["10.1.2.3"]}, allow=(name,))
    assert tried == [("10.1.2.3", 9000)]


@pytest.mark.parametrize(
    ("address", "allow"),
    [("10.1.2.3", ("crm.internal:9001",)), ("10.1.2.3", ("internal",)), ("169.254.169.254", ("crm.internal",))],
)
async def test_another_port_another_name_and_metadata_are_not_reached(address: str, allow: tuple[str, ...]) -> None:
    error, tried = await attempt("http://crm.internal:9000/", {"crm.internal": [address]}, allow=allow)
    assert isinstance(error, Refused)
    assert tried == []


async def test_the_operators_own_urls_may_be_private_but_never_metadata() -> None:
    _, tried = await attempt("http://app:3000/", {"app": ["172.20.0.3"]}, operator=True)
    assert tried == [("172.20.0.3", 3000)]
    error, tried = await attempt("http://169.254.169.254/", operator=True)
    assert isinstance(error, Refused)
    assert tried == []


@pytest.mark.parametrize("addresses", [[PUBLIC], ["172.20.0.3", PUBLIC]])
async def test_the_operators_own_urls_are_public_over_tls_only(addresses: list[str]) -> None:
    _, tried = await attempt("https://app.example:3000/", {"app.example": addresses}, operator=True)
    assert [address for address, _ in tried] == addresses
    error, tried = await attempt("http://app.example:3000/", {"app.example": addresses}, operator=True)
    assert "write https://" in str(error)
    assert tried == []


async def test_a_port_that_is_no_web_port_is_refused() -> None:
    error, tried = await attempt("https://ok.customer.example:22/", {"ok.customer.example": [PUBLIC]})
    assert isinstance(error, Refused)
    assert tried == []


async def test_every_address_has_its_turn() -> None:
    addresses = ["93.184.216.34", "93.184.216.35"]
    _, tried = await attempt("https://two.customer.example/", {"two.customer.example": addresses})
    assert [address for address, _ in tried] == addresses


async def test_proxy_variables_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    _, tried = await attempt("https://ok.customer.example/", {"ok.customer.example": [PUBLIC]})
    assert tried == [(PUBLIC, 443)]
