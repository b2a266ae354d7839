"""The doubles at the world's edge do what the other tests rely on."""

import asyncio
import select
import smtplib
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from tests.worlds.http_receiver import Answer, HttpReceiver
from tests.worlds.memory import memory_folder
from tests.worlds.process import Processes
from tests.worlds.proxy import Proxy
from tests.worlds.smtp_sink import CUT, SmtpSink
from tests.worlds.waiting import async_until, until


def direct(proxy: Proxy) -> psycopg.Connection[Any]:
    return psycopg.connect(proxy.url, autocommit=True)


def test_the_proxy_counts_round_trips_and_not_the_login(proxy: Proxy) -> None:
    with direct(proxy) as conn:
        assert proxy.round_trips == 0
        conn.execute("select 1")
        conn.execute("select %s::int, repeat('x', 200000)", (1,))
        assert proxy.round_trips == 2
    assert (proxy.round_trips, proxy.connections) == (2, 1)


def test_a_transaction_block_is_seen_to_pay_for_its_begin_and_commit(proxy: Proxy) -> None:
    with direct(proxy) as conn:
        with conn.transaction():
            conn.execute("select 1")
        assert proxy.round_trips == 3


def test_the_proxy_delays_both_ways(proxy: Proxy) -> None:
    with direct(proxy) as conn:
        proxy.latency_seconds = 0.05
        began = time.monotonic()
        conn.execute("select 1")
        assert time.monotonic() - began >= 0.1


def test_a_black_hole_answers_nothing_and_stays_open(proxy: Proxy) -> None:
    with closing(direct(proxy)) as conn:
        proxy.black_hole = True
        conn.pgconn.send_query(b"select 1")
        readable, _, _ = select.select([conn.fileno()], [], [], 0.1)
        assert not readable


def test_a_reset_is_seen_by_the_client(proxy: Proxy) -> None:
    with direct(proxy) as conn:
        proxy.reset()
        with pytest.raises(psycopg.OperationalError):
            conn.execute("select 1")


def test_a_connection_is_cut_after_so_many_bytes(proxy: Proxy) -> None:
    with direct(proxy) as conn:
        proxy.cut_after = 1000
        with pytest.raises(psycopg.OperationalError):
            conn.execute("select repeat('x', 100000)")
    with direct(proxy) as conn:
        conn.execute("select 1")


def test_what_was_asked_is_done_though_the_answer_is_lost(proxy: Proxy, sync_conn: psycopg.Connection[Any]) -> None:
    sync_conn.execute("create table kept (n int)")
    with direct(proxy) as conn:
        proxy.lose_next_answer = True
        with pytest.raises(psycopg.OperationalError):
            conn.execute("insert into kept select 1 from pg_sleep(0.1)")
    assert sync_conn.execute("select n from kept").fetchall() == [(1,)]
    assert not proxy.lose_next_answer


def send(sink: SmtpSink) -> None:
    with smtplib.SMTP("127.0.0.1", sink.port) as client:
        client.sendmail("a@acme.example", ["b@acme.example"], "Subject: Hi\r\n\r\nHello")


def test_the_sink_keeps_what_it_accepts(smtp_sink: SmtpSink) -> None:
    send(smtp_sink)
    (mail,) = smtp_sink.mails
    assert (mail.sender, mail.recipients, mail.message["subject"]) == ("a@acme.example", ("b@acme.example",), "Hi")


@pytest.mark.parametrize("verb", ["MAIL", "RCPT", "DATA"])
def test_the_sink_answers_as_it_is_told_once(smtp_sink: SmtpSink, verb: str) -> None:
    smtp_sink.replies[verb].append("451 4.3.0 later")
    with pytest.raises((smtplib.SMTPResponseException, smtplib.SMTPRecipientsRefused)):
        send(smtp_sink)
    send(smtp_sink)
    assert len(smtp_sink.mails) == 1


def test_the_sink_hangs_up_after_it_has_read_the_body(smtp_sink: SmtpSink) -> None:
    smtp_sink.replies["DATA"].append(CUT)
    with pytest.raises(smtplib.SMTPServerDisconnected):
        send(smtp_sink)
    assert (len(smtp_sink.seen), len(smtp_sink.mails)) == (1, 0)


async def test_the_receiver_records_the_bytes_and_answers_in_turn(http_receiver: HttpReceiver) -> None:
    http_receiver.answers.append(Answer(503, b"later", {"Retry-After": "7"}))
    async with httpx.AsyncClient(trust_env=False) as client:
        first = await client.post(http_receiver.url + "/hook?a=1", content=b'{"a": 1}')
        second = await client.get(http_receiver.url)
    assert (first.status_code, first.text, first.headers["retry-after"]) == (503, "later", "7")
    assert (second.status_code, second.text) == (200, "ok")
    posted = http_receiver.requests[0]
    assert (posted.method, posted.target, posted.body) == ("POST", "/hook?a=1", b'{"a": 1}')
    assert posted.headers["content-length"] == "8"
    assert b"POST /hook?a=1 HTTP/1.1\r\n" in posted.head


async def test_the_receiver_hangs_drips_and_closes(http_receiver: HttpReceiver) -> None:
    http_receiver.answers.extend([Answer(hang=True), Answer(close=True), Answer(drip_seconds=0.02, body=b"123")])
    async with httpx.AsyncClient(trust_env=False, timeout=2) as client:
        with pytest.raises(httpx.ReadTimeout):
            await client.get(http_receiver.url)
        with pytest.raises(httpx.RemoteProtocolError):
            await client.get(http_receiver.url)
        assert (await client.get(http_receiver.url)).content == b"123"


def test_a_child_is_read_frozen_and_killed(processes: Processes) -> None:
    child = processes.start("import sys\nprint('up', sys.argv[1])\nwhile True: print('.')", "here")
    assert child.line() == "up here"
    child.freeze()
    until(lambda: state(child.pid) == "T")
    child.thaw()
    until(lambda: state(child.pid) != "T")
    child.kill()
    assert child.wait() == -9


def test_a_child_that_says_nothing_is_told_with_its_errors(processes: Processes) -> None:
    child = processes.start("raise SystemExit('no such thing')")
    assert child.wait() == 1
    with pytest.raises(AssertionError, match="no such thing"):
        child.line(seconds=0.1)


def state(pid: int) -> str:
    with open(f"/proc/{pid}/stat") as file:  # noqa: PTH123
        return file.read().rpartition(")")[2].split()[0]


async def test_waiting_ends_with_the_fact_or_says_what_was_missing() -> None:
    asyncio.get_running_loop().call_later(0.05, numbers.append, 7)
    assert await async_until(lambda: numbers) == [7]
    with pytest.raises(AssertionError, match=r"numbers\[0\] == 8"):
        until(lambda: numbers[0] == 8, seconds=0.05)


numbers: list[int] = []


def test_what_a_killed_process_left_in_memory_goes_with_the_next_start(processes: Processes) -> None:
    child = processes.start(
        "import time\n"
        "from tests.worlds.memory import memory_folder\n"
        "with memory_folder() as folder:\n"
        "    print(folder or '')\n"
        "    time.sleep(600)"
    )
    left = Path(child.line())
    with memory_folder() as folder:
        if folder is None:
            return
        assert left.exists()
        child.kill()
        with memory_folder() as another:
            assert (left.exists(), folder.exists()) == (False, True)
    assert another is not None
    assert not another.exists()


async def test_the_pooler_keeps_no_session(pgbouncer: str) -> None:
    async with await psycopg.AsyncConnection.connect(pgbouncer, autocommit=True, prepare_threshold=None) as conn:
        row = await (await conn.execute("select current_database(), crontick.now() is not null")).fetchone()
    assert row is not None
    assert row[1]
    assert pgbouncer.endswith(row[0])


def test_the_schema_applies_to_postgresql_15(postgresql15: str) -> None:
    with psycopg.connect(postgresql15) as conn:
        assert conn.info.server_version // 10000 == 15
        conn.execute("select * from crontick.overview").fetchone()
