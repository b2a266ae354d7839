"""A run's progress and its file over HTTP: for the admin's token, and each for a signed link of its own."""

import socket
import time
from collections.abc import Iterator
from datetime import timedelta

import pytest
from msgspec.structs import replace

from crontick.handler.app import create_app
from crontick.jobs.kinds.signature import new_secret
from crontick.jobs.links import FILE_PATH, PROGRESS_PATH, LinkError, check_link, expand, make_link
from crontick.jobs.settings import Settings
from tests.door.serving import ADMIN, TOKEN, Answer, Ticks, exchange, head, read_answer, served
from tests.reports.conftest import Reports
from tests.worlds.waiting import async_until

SECRET, OLD_SECRET = new_secret(), new_secret()
PUBLIC = "https://app.example/crontick"
FILE = FILE_PATH.format(run=7)
SETTINGS = Settings(
    cron_secrets=(TOKEN,), admin_secrets=(ADMIN,), signing_secrets=(SECRET, OLD_SECRET), public_url=PUBLIC
)


@pytest.fixture
def address(database: str) -> Iterator[tuple[str, int]]:
    ticks = Ticks()
    settings = replace(SETTINGS, database_url=database)
    with served(create_app(settings, run_tick=ticks.run, check_ready=ticks.check_ready)) as listening:
        yield listening


@pytest.fixture
def limited(database: str) -> Iterator[tuple[str, int]]:
    """On a host that takes 100 bytes an answer."""
    ticks = Ticks()
    settings = replace(SETTINGS, database_url=database)
    with served(create_app(settings, run_tick=ticks.run, check_ready=ticks.check_ready, answer_bytes=100)) as listening:
        yield listening


@pytest.fixture
async def made(reports: Reports) -> tuple[int, bytes]:
    """A finished run of four parts, and its file."""
    await reports.sell(*range(1, 36))
    run = await reports.start()
    await reports.tick()
    return run, await reports.content(run)


def get(address: tuple[str, int], path: str, *headers: str, token: str | None = ADMIN, method: str = "GET") -> Answer:
    return exchange(address, head(method, path, *headers, token=token))


def signed(
    run: int, *, settings: Settings = SETTINGS, lasts: timedelta = timedelta(days=1), to: str = FILE_PATH
) -> str:
    """A link without what the server is called by others."""
    return make_link(settings, run, lasts=lasts, to=to).removeprefix(PUBLIC)


async def test_progress_is_shown_while_it_runs_and_when_it_has_ended(
    address: tuple[str, int], reports: Reports
) -> None:
    await reports.sell(*range(1, 36))
    run = await reports.start()
    assert get(address, f"/api/reports/{run}").json["status"] == "queued"
    await reports.tick(limit=1)
    told = get(address, f"/api/reports/{run}").json
    assert (told["status"], told["row_count"], told["download"]) == ("running", 10, None)
    assert get(address, f"/api/reports/{run}/download").status == 409
    await reports.tick()
    told = get(address, f"/api/reports/{run}").json
    assert (told["status"], told["row_count"], told["download"]) == ("succeeded", 35, f"/api/reports/{run}/download")


async def test_a_run_that_never_began_tells_why(address: tuple[str, int], reports: Reports) -> None:
    run = await reports.start({"report": "sales", "parameters": {"x": 1}})
    await reports.tick()
    told = get(address, f"/api/reports/{run}").json
    assert told["status"] == "failed"
    assert "there is no parameter 'x'" in str(told["last_error"])
    assert "has failed" in str(get(address, f"/api/reports/{run}/download").json["detail"])


async def test_a_link_shows_progress_and_no_error_and_opens_no_file(
    address: tuple[str, int], made: tuple[int, bytes], reports: Reports
) -> None:
    run, _ = made
    progress = signed(run, to=PROGRESS_PATH)
    told = get(address, progress, token=None).json
    assert (told["status"], told["row_count"], "last_error" in told) == ("succeeded", 35, False)
    assert "last_error" in get(address, f"/api/reports/{run}").json
    query, other = progress.partition("?")[2], await reports.start()
    assert get(address, f"/api/reports/{run}/download?{query}", token=None).status == 403
    assert get(address, f"/api/reports/{other}?{query}", token=None).status == 403
    assert get(address, f"/api/reports/{run}?{signed(run).partition('?')[2]}", token=None).status == 403


async def test_a_slow_reader_holds_no_connection_to_the_database(address: tuple[str, int], reports: Reports) -> None:
    wide = "select id, repeat('x', 100000) as wide from sales"
    reports.say(f'[[report]]\nname = "sales"\nquery = "{wide}"\nkey = "id"\nchunk_rows = 10\n')
    await reports.sell(*range(1, 251))
    run = await reports.start()
    while (await reports.run(run))["status"] != "succeeded":
        await reports.tick()
    ours = "select 1 from pg_stat_activity where application_name = 'crontick' and datname = current_database()"
    with socket.create_connection(address, timeout=30) as reader:
        reader.sendall(head("GET", f"/api/reports/{run}/download", token=ADMIN))
        begun = reader.recv(1)  # the server goes on until its buffers are full, some megabytes before the end
        await async_until(lambda: _none(reports, ours), seconds=30)
        answer = read_answer(reader, begun)
    assert len(answer.body) == int(answer.headers["content-length"]) > 25_000_000
    assert answer.body == await reports.content(run)


async def _none(reports: Reports, text: str) -> bool:
    return not await reports.rows(text)


async def test_the_file_goes_out_as_an_attachment(address: tuple[str, int], made: tuple[int, bytes]) -> None:
    run, content = made
    answer = get(address, f"/api/reports/{run}/download")
    assert (answer.status, answer.body) == (200, content)
    told = {name: answer.headers[name] for name in ("content-type", "content-disposition", "cache-control")}
    assert told == {
        "content-type": "text/csv; charset=utf-8",
        "content-disposition": f'attachment; filename="sales-{run}.csv"',
        "cache-control": "no-store",
    }
    assert (answer.headers["x-content-type-options"], answer.headers["accept-ranges"]) == ("nosniff", "bytes")


@pytest.mark.parametrize(
    ("asked", "first", "last"),
    [
        ("bytes=0-0", 0, 0),
        ("bytes=0-", 0, None),
        ("bytes=100-250", 100, 250),
        ("bytes=500-", 500, None),
        ("bytes=100-999999999", 100, None),
        ("bytes=-7", -7, None),
        ("bytes=-999999999", 0, None),
    ],
)
async def test_a_range_is_answered_from_any_part(
    address: tuple[str, int], made: tuple[int, bytes], asked: str, first: int, last: int | None
) -> None:
    run, content = made
    answer = get(address, f"/api/reports/{run}/download", f"Range: {asked}")
    wanted = content[first:] if last is None else content[first : last + 1]
    begin = first % len(content)
    assert (answer.status, answer.body) == (206, wanted)
    assert answer.headers["content-range"] == f"bytes {begin}-{begin + len(wanted) - 1}/{len(content)}"


@pytest.mark.parametrize("asked", ["bytes=5-2", "bytes=0-1,3-4", "lines=1-2", "bytes=x-", "bytes=-", ""])
async def test_what_is_no_single_range_gets_all_of_it(
    address: tuple[str, int], made: tuple[int, bytes], asked: str
) -> None:
    run, content = made
    answer = get(address, f"/api/reports/{run}/download", f"Range: {asked}")
    assert (answer.status, answer.body) == (200, content)


@pytest.mark.parametrize("asked", ["bytes=999999-", "bytes=-0", f"bytes={2**62}-"])
async def test_a_range_behind_the_end_is_refused(address: tuple[str, int], made: tuple[int, bytes], asked: str) -> None:
    run, content = made
    answer = get(address, f"/api/reports/{run}/download", f"Range: {asked}")
    assert (answer.status, answer.headers["content-range"]) == (416, f"bytes */{len(content)}")


async def test_a_download_that_broke_off_goes_on_only_in_the_same_file(
    address: tuple[str, int], made: tuple[int, bytes]
) -> None:
    run, content = made
    path = f"/api/reports/{run}/download"
    etag = get(address, path).headers["etag"]
    assert get(address, path, "Range: bytes=600-", f"If-Range: {etag}").body == content[600:]
    assert get(address, path, "Range: bytes=600-", 'If-Range: "another"').body == content
    assert get(address, path, f"If-None-Match: {etag}").status == 304


async def test_head_tells_all_but_the_bytes(address: tuple[str, int], made: tuple[int, bytes]) -> None:
    run, content = made
    answer = exchange_head(address, f"/api/reports/{run}/download")
    assert answer.startswith("HTTP/1.1 200")
    assert f"content-length: {len(content)}\r\n" in answer


def exchange_head(address: tuple[str, int], path: str) -> str:
    """What comes until the server closes the connection."""
    import socket

    with socket.create_connection(address, timeout=20) as connection:
        connection.sendall(head("HEAD", path, "Connection: close", token=ADMIN))
        return b"".join(iter(lambda: connection.recv(65536), b"")).decode()


async def test_a_link_opens_its_file_without_a_token(address: tuple[str, int], made: tuple[int, bytes]) -> None:
    run, content = made
    assert make_link(SETTINGS, run).startswith(f"{PUBLIC}/api/reports/{run}/download?expires=")
    assert get(address, signed(run), token=None).body == content
    rotated = replace(SETTINGS, signing_secrets=(OLD_SECRET,))
    assert get(address, signed(run, settings=rotated), token=None).status == 200


async def test_a_link_opens_nothing_else(address: tuple[str, int], made: tuple[int, bytes], reports: Reports) -> None:
    run, _ = made
    other = await reports.start()
    await reports.tick()
    link = signed(run)
    tampered = {
        "another run": link.replace(f"/{run}/", f"/{other}/"),
        "later": link.replace("expires=1", "expires=2"),
        "another signature": link[:-1] + ("0" if link[-1] != "0" else "1"),
        "another parameter": f"{link}&x=1",
        "twice": f"{link}&expires=9",
        "no expiry": f"/api/reports/{run}/download?signature=" + link.partition("signature=")[2],
        "another secret": signed(run, settings=replace(SETTINGS, signing_secrets=(new_secret(),))),
        "no ASCII": f"/api/reports/{run}/download?expires=1&signature=%C3%A4",
    }
    for what, path in tampered.items():
        assert get(address, path, token=None).status == 403, what
    assert get(address, link, token=None, method="DELETE").status == 405
    assert get(address, link.replace("/download", ""), token=None).status == 403


def test_an_expired_link_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    query = signed(7).partition("?")[2]
    check_link((SECRET,), FILE, query)
    later = time.time() + 86_401
    monkeypatch.setattr(time, "time", lambda: later)
    with pytest.raises(LinkError, match="has expired"):
        check_link((SECRET,), FILE, query)


@pytest.mark.parametrize("lasts", [timedelta(0), timedelta(days=7, seconds=1)])
def test_a_link_lasts_seven_days_at_most(lasts: timedelta) -> None:
    with pytest.raises(LinkError, match="7 days"):
        signed(7, lasts=lasts)


def test_a_link_is_judged_before_the_database_is_asked() -> None:
    ticks = Ticks()
    nowhere = replace(SETTINGS, database_url="postgresql://127.0.0.1:1/none")
    with served(create_app(nowhere, run_tick=ticks.run, check_ready=ticks.check_ready)) as listening:
        assert get(listening, signed(7)[:-1] + "x", token=None).status == 403
        assert get(listening, "/api/reports/7", token=TOKEN).status == 401
        assert get(listening, "/api/reports/7/download", token=None).status == 401


def test_keys_are_derived_as_rfc_5869_does() -> None:
    key, salt, info = b"\x0b" * 22, bytes(range(13)), bytes(range(0xF0, 0xFA))
    okm = "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf"
    assert expand(key, info, salt=salt).hex() == okm


def test_a_door_whose_secret_is_not_set_does_not_exist() -> None:
    ticks = Ticks()
    only_cron = Settings(cron_secrets=(TOKEN,))
    with served(create_app(only_cron, run_tick=ticks.run, check_ready=ticks.check_ready)) as listening:
        assert get(listening, "/api/reports/7").status == 404
        assert get(listening, "/api/reports/7/download").status == 404


@pytest.mark.parametrize("run", ["0", "999999", str(2**64)])
async def test_a_run_that_is_not_there_is_not_found(address: tuple[str, int], run: str) -> None:
    assert get(address, f"/api/reports/{run}").status == 404
    assert get(address, f"/api/reports/{run}/download").status == 404


async def test_a_host_that_limits_answers_gives_ranges(limited: tuple[str, int], made: tuple[int, bytes]) -> None:
    run, content = made
    path = f"/api/reports/{run}/download"
    assert "ask for ranges" in str(get(limited, path).json["detail"])
    got = b""
    while len(got) < len(content):
        answer = get(limited, path, f"Range: bytes={len(got)}-")
        assert (answer.status, 0 < len(answer.body) <= 100) == (206, True)
        got += answer.body
    assert got == content


async def test_a_file_that_goes_meanwhile_is_not_taken_for_whole(
    address: tuple[str, int], made: tuple[int, bytes], reports: Reports
) -> None:
    run, _ = made
    await reports.rows("delete from crontick.report_parts where run = %s and part = 3", run)
    with pytest.raises(ConnectionError, match="in the middle of its answer"):
        get(address, f"/api/reports/{run}/download")
