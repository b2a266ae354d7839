"""Every page on databases that have nothing to show, and what others have put into addresses."""

import re
from collections.abc import Iterator
from html import unescape
from urllib.parse import parse_qsl, urlsplit

import msgspec
import psycopg
import pytest

from crontick.handler.dashboard.routes import READS, WRITES
from tests.dashboard.asking import Asker
from tests.door.serving import SETTINGS, Ticks, app_of, served


@pytest.fixture
def asker(database: str) -> Iterator[Asker]:
    with served(app_of(Ticks(), msgspec.structs.replace(SETTINGS, database_url=database))) as address:
        made = Asker(address)
        made.log_in()
        yield made


NAMED = ("jobs/N", "reminders/preview")
"""Pages of one thing."""


def test_each_page_shows_that_there_is_nothing(asker: Asker) -> None:
    found = {path: asker.get(f"/dashboard/{path}".rstrip("/")).status for path in READS if path not in NAMED}
    assert set(found.values()) == {200}, found
    assert asker.get("/dashboard/jobs/1").status == 404


@pytest.mark.parametrize("path", WRITES)
def test_no_form_that_says_nothing_is_a_fault(asker: Asker, path: str) -> None:
    asker.get("/dashboard")
    answer = asker.post(f"/dashboard/{path}")
    assert answer.status in ((303,) if path == "logout" else (404, 422)), answer.body


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("jobs?status=lost", 422),
        ("jobs?below=x", 422),
        ("jobs?below=99999999999999999999", 422),
        ("jobs?since=yesterday", 422),
        ("jobs?since=2026-11-30T09:00&until=2026-11-30T10:00", 200),
        ("jobs?since=0001-01-01T00:00", 200),
        ("jobs?kind=A%20B", 422),
        ("jobs?error=%00", 400),
        ("jobs?error=%FF", 400),
        ("jobs?error=100%25", 200),
        ("dead?fingerprint=", 200),
        ("dead?fingerprint=&kind=!", 422),
        ("ticks?below=-1", 422),
        ("audit?below=0", 422),
        ("?said=you+have+been+paid&seal=0", 200),
    ],
)
def test_what_an_address_says_is_judged(asker: Asker, query: str, status: int) -> None:
    answer = asker.get(f"/dashboard/{query}" if query[0] != "?" else f"/dashboard{query}")
    assert answer.status == status
    assert b"you have been paid" not in answer.body


def test_a_database_without_tables_is_told_in_a_sentence(raw_database: str) -> None:
    with served(app_of(Ticks(), msgspec.structs.replace(SETTINGS, database_url=raw_database))) as address:
        asker = Asker(address)
        asker.log_in()
        answer = asker.get("/dashboard")
    assert answer.status == 503
    assert b"crontick migrate" in answer.body


def test_a_group_of_no_fingerprint_is_requeued_whole(asker: Asker, database: str) -> None:
    with psycopg.connect(database, autocommit=True) as conn:
        conn.execute(
            "insert into crontick.finished_jobs (id, run_at, created_at, finished_at, priority, attempt, kind, queue,"
            " status, payload) select -n, now(), now(), now(), 0, 1, 'greet', 'default', 'dead', '{}'"
            " from generate_series(1, 1200) as n"
        )
        asker.get("/dashboard/dead?kind=greet&fingerprint=")
        asked = {"kind": "greet", "fingerprint": "", "do": "requeue"}
        assert b"Requeue 1,200 dead letters?" in asker.post("/dashboard/dead/preview", asked).body
        done = asker.post("/dashboard/dead/act", {**asked, "confirmed": "1200", "per_minute": "600"})
        assert done.status == 303
        assert b"200 are left" in asker.get(f"/dashboard/dead{done.headers['location'].partition('dead')[2]}").body
        assert conn.execute("select count(*) from crontick.dead_letters").fetchone() == (200,)


def test_what_died_of_one_customer_is_decided_apart_from_another(asker: Asker, database: str) -> None:
    with psycopg.connect(database, autocommit=True) as conn:
        conn.execute(
            "insert into crontick.finished_jobs (id, run_at, created_at, finished_at, priority, attempt, kind, queue,"
            " status, payload) select -n, now(), now(), now(), 0, 1, 'deliver_webhook', 'default', 'dead',"
            " jsonb_build_object('endpoint', case n when 3 then 'shop' else 'crm' end) from generate_series(1, 3) as n"
        )
    [theirs] = re.findall(r'href="(?:\.\./)*(\S*?)">2 jobs<', asker.get("/dashboard/dead").body.decode())
    asked = dict(parse_qsl(urlsplit(unescape(theirs)).query, keep_blank_values=True))
    assert asked["endpoint"] == "crm"
    assert b"Requeue 2 dead letters?" in asker.post("/dashboard/dead/preview", {**asked, "do": "requeue"}).body


def test_a_count_of_groups_that_ends_at_a_thousand_says_so(asker: Asker, database: str) -> None:
    with psycopg.connect(database, autocommit=True) as conn:
        conn.execute(
            "select crontick.enqueue('note', group_key => nth::text)"
            " from generate_series(1, 1001) as nth, generate_series(1, 2)"
        )
        while conn.execute("select from crontick.group_calls limit 1").fetchall():
            conn.execute("select crontick.place()")
    assert "<b>1,000 or more</b> groups wait" in asker.get("/dashboard").body.decode()
