"""What the door makes of answers: bounded in time and size, never followed, never unpacked."""

import asyncio
import gzip
import os
import ssl
import subprocess
import sys
from datetime import datetime
from typing import Any

import httpx
import pytest
import trustme

from crontick.jobs.door import LONGEST_SECONDS, TooLong, total_seconds
from crontick.jobs.kinds.settings import HttpSettings
from crontick.jobs.once import nothing_was_sent
from crontick.jobs.outbound import NotConnected, Unanswered, client, retry_after_seconds, send
from crontick.jobs.resolve import resolve
from tests.kinds.cases import cases
from tests.kinds.receiver import Receiver, receiver, status

ALLOW = HttpSettings(allow=("127.0.0.1", "localhost", "crm.internal"))


async def post(made: Receiver, *, seconds: float = 5, url: str | None = None, tls: ssl.SSLContext | None = None) -> Any:
    async with client(ALLOW, tls=tls) as door:
        return await send(
            door, url or f"http://127.0.0.1:{made.port}/hook?q=1", content=b'{"a":1}', headers={}, seconds=seconds
        )


async def test_an_answer_is_its_status_its_headers_and_its_beginning() -> None:
    async with receiver() as made:
        made.answers = [status(404, (("X-Why", "no"),), b"x" * 100_000)]
        answer = await post(made)
    assert (answer.status, answer.headers["x-why"], answer.body) == (404, "no", b"x" * 16384)
    assert (made.requests[0].target, made.requests[0].body) == ("/hook?q=1", b'{"a":1}')


async def test_a_compressed_answer_is_not_unpacked() -> None:
    packed = gzip.compress(b"\0" * 50_000_000)
    async with receiver() as made:
        made.answers = [status(200, (("Content-Encoding", "gzip"),), packed)]
        answer = await post(made)
    assert answer.body == packed[:16384]
    assert made.requests[0].header("accept-encoding") == "identity"


async def drip(writer: Any) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while True:
        writer.write(b"1\r\nx\r\n")
        await writer.drain()
        await asyncio.sleep(0.02)


async def drip_head(writer: Any) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\n")
    while True:
        writer.write(b"X-A: b\r\n")
        await writer.drain()
        await asyncio.sleep(0.02)


async def silence(_: Any) -> None:
    await asyncio.Event().wait()


async def hang_up(_: Any) -> None:
    return


async def flood(writer: Any) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:
        writer.write(b"x" * 65536)
        await writer.drain()


async def test_an_endless_body_is_left_after_its_beginning() -> None:
    async with receiver() as made:
        made.answers = [flood]
        assert len((await post(made, seconds=30)).body) == 16384


async def test_a_dripping_body_does_not_hold_it_and_the_status_counts() -> None:
    async with receiver() as made:
        made.answers = [drip]
        async with asyncio.timeout(30):
            assert (await post(made, seconds=0.3)).status == 200


async def get(made: Receiver, *, seconds: float = 5) -> httpx.Response:
    """As a function does with ``ctx.http``."""
    async with client(ALLOW) as door:
        return await door.get(f"http://127.0.0.1:{made.port}/", timeout=seconds)


@pytest.mark.parametrize(("size", "whole"), [(0, True), (16384, True), (16385, False), (5_000_000, False)])
async def test_what_a_function_fetches_itself_has_16_kib_at_most(size: int, whole: bool) -> None:  # noqa: FBT001 (a table)
    async with receiver() as made:
        made.answers = [status(200, (), b"x" * size)]
        if whole:
            assert (await get(made)).content == b"x" * size
        else:
            with pytest.raises(TooLong, match=r"the answer of 127\.0\.0\.1 is longer than 16384 bytes"):
                await get(made)


async def test_an_endless_one_is_left_after_its_beginning() -> None:
    read = 0

    async def read_on(response: httpx.Response) -> None:
        nonlocal read
        async for piece in response.aiter_bytes():
            read += len(piece)

    async with receiver() as made:
        made.answers = [flood]
        async with client(ALLOW) as door, door.stream("GET", f"http://127.0.0.1:{made.port}/") as response:
            with pytest.raises(TooLong):
                await read_on(response)
    assert read == 16384


@pytest.mark.parametrize("answering", [drip, drip_head, silence])
async def test_what_a_function_fetches_itself_ends_in_time_however_it_drips(answering: Any) -> None:
    async with receiver() as made:
        made.answers = [answering]
        async with asyncio.timeout(30):
            with pytest.raises(httpx.ReadTimeout):
                await get(made, seconds=0.2)


async def test_a_total_time_that_is_over_before_anything_was_written_is_known_to_have_sent_nothing() -> None:
    async def late(_host: str, _port: int) -> list[str]:
        await asyncio.Event().wait()
        return []

    async with client(ALLOW, resolver=late) as door:
        with pytest.raises(httpx.ConnectTimeout) as raised:
            await door.get("https://crm.internal/", timeout=httpx.Timeout(0.2, connect=None))
    assert nothing_was_sent(raised.value)


async def test_without_a_time_out_of_its_own_a_request_has_a_bound_yet() -> None:
    request = httpx.Request("GET", "http://127.0.0.1/", extensions={"timeout": httpx.Timeout(None).as_dict()})
    assert total_seconds(request) == LONGEST_SECONDS


@pytest.mark.parametrize(
    ("answering", "said"),
    [
        (drip_head, "no answer in time from 127.0.0.1"),
        (silence, "no answer in time from 127.0.0.1"),
        (hang_up, "the answer broke off from 127.0.0.1"),
        (b"SSH-2.0-OpenSSH\r\n\r\n", "the answer broke off from 127.0.0.1"),
        (b"HTTP/1.1 200 OK\r\nX-A: " + b"b" * 1_000_000 + b"\r\n\r\n", "the answer broke off from 127.0.0.1"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "the answer broke off from 127.0.0.1"),
    ],
)
async def test_no_whole_answer_is_told_apart_from_nothing_sent(answering: Any, said: str) -> None:
    async with receiver() as made:
        made.answers = [answering]
        with pytest.raises(Unanswered, match=said) as raised:
            await post(made, seconds=2)
    assert raised.value.nothing_sent is False


async def test_a_refused_connection_is_known_to_have_sent_nothing() -> None:
    async with receiver() as made:
        pass
    with pytest.raises(NotConnected, match=r"no connection to 127\.0\.0\.1") as raised:
        await post(made)
    assert raised.value.nothing_sent is True


@pytest.mark.parametrize(
    "answer", [b"HTTP/1.1 204 \xff\xfe\r\nX-A: \xff\xfe\r\n\r\n", b"HTTP/1.1 103 Early Hints\r\n\r\n" + status(204)]
)
async def test_the_final_status_decides_whatever_stands_beside_it(answer: bytes) -> None:
    async with receiver() as made:
        made.answers = [answer]
        assert (await post(made)).status == 204


@pytest.mark.parametrize("case", [case for case in cases("ssrf") if case.values[0]["verdict"] == "not-followed"])
async def test_a_redirect_is_an_answer_and_is_not_followed(case: dict[str, Any]) -> None:
    [(code, location)] = case["redirects"]
    async with receiver() as made:
        made.answers = [status(code, (("Location", location),) if location else ())]
        assert (await post(made)).status == code
    assert made.connections == 1
    assert len(made.requests) == 1


async def test_a_cookie_is_not_kept() -> None:
    async with receiver() as made, client(ALLOW) as door:
        made.answers = [status(200, (("Set-Cookie", "a=b"),))]
        for _ in range(2):
            await send(door, f"http://127.0.0.1:{made.port}/", content=b"", headers={}, seconds=5)
    assert [name for request in made.requests for name, _ in request.headers if name.lower() == "cookie"] == []


async def test_the_certificate_is_checked_against_the_host_of_the_url() -> None:
    authority, server = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("crm.internal").configure_cert(server)
    ours = ssl.create_default_context()
    authority.configure_trust(ours)

    async def resolver(_host: str, _port: int) -> list[str]:
        return ["127.0.0.1"]

    async with receiver(server) as made, client(ALLOW, tls=ours, resolver=resolver) as door:
        url = f"https://crm.internal:{made.port}/"
        assert (await send(door, url, content=b"", headers={}, seconds=5)).status == 200
        wrong = f"https://localhost:{made.port}/"
        with pytest.raises(NotConnected, match="no certificate that is trusted from localhost"):
            await send(door, wrong, content=b"", headers={}, seconds=5)
        with pytest.raises(NotConnected, match="no certificate that is trusted"):
            async with client(ALLOW, resolver=resolver) as stranger:
                await send(stranger, url, content=b"", headers={}, seconds=5)
    assert len(made.requests) == 1


async def test_a_resolver_that_hangs_holds_neither_the_request_nor_the_executor() -> None:
    async def resolver(_host: str, _port: int) -> list[str]:
        await asyncio.Event().wait()
        return []

    async with client(ALLOW, resolver=resolver) as door:
        with pytest.raises(NotConnected, match=r"no connection in time to slow\.example"):
            await send(door, "https://slow.example/", content=b"", headers={}, seconds=0.2)


async def test_the_systems_resolver_answers_from_a_thread_of_its_own() -> None:
    assert "127.0.0.1" in await resolve("127.0.0.1", 80)
    with pytest.raises(OSError, match=r".+"):
        await resolve("x" * 64 + ".example", 80)
    loop = asyncio.get_running_loop()
    assert getattr(loop, "_default_executor", None) is None


@pytest.mark.parametrize("case", cases("retry_after"))
def test_retry_after_is_seconds_or_a_date_and_a_day_at_most(case: dict[str, Any]) -> None:
    now = datetime.fromisoformat(case.get("now", "2026-11-30T02:00:00Z"))
    headers = httpx.Headers([(name, value.encode()) for name, value in case["headers"]])
    asked = retry_after_seconds(headers, now)
    want = case["seconds"]
    assert asked == want


def test_httpx_is_imported_by_the_first_request_and_not_before() -> None:
    code = "import sys, crontick.jobs.outbound, crontick.jobs.deployment; print('httpx' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ)
    assert said.stdout.strip() == "False"
