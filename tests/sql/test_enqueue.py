"""crontick.enqueue: what it fills in, and what it refuses."""

import json
from typing import Any

import pytest

from crontick.sql.migrate import migrate
from tests.sql.conftest import Sql

MONTHS = "now() + interval '121 months'"


def test_a_job_needs_nothing_but_its_kind(sql: Sql) -> None:
    job = sql.job(sql.enqueue())
    assert (job["queue"], job["priority"], job["payload"], job["status"]) == ("post", 7, {}, "queued")
    assert (job["attempt"], job["max_attempts"], job["run_at"]) == (0, None, job["created_at"])


def test_what_the_caller_says_comes_before_what_the_kind_says(sql: Sql) -> None:
    job = sql.job(sql.enqueue(queue="slow", priority=-3, max_attempts=9, payload='{"a": 1}'))
    assert (job["queue"], job["priority"], job["max_attempts"], job["payload"]) == ("slow", -3, 9, {"a": 1})


def test_a_job_is_due_by_the_database_s_clock_whatever_the_caller_s_says(sql: Sql) -> None:
    sql.later("5 minutes")
    job = sql.enqueue()
    sql.rows("set timezone = 'Asia/Tokyo'")
    assert sql.one("select run_at = crontick.now() or run_at < crontick.now() from crontick.jobs where id = %s", job)


def test_a_time_with_its_zone_is_kept_exactly(sql: Sql) -> None:
    sql.rows("set timezone = 'Asia/Tokyo'")
    job = sql.enqueue(run_at="2026-12-01T09:00:00+02:00")
    assert sql.one("select run_at = '2026-12-01 07:00Z' from crontick.jobs where id = %s", job)


def test_a_rolled_back_transaction_leaves_no_job(sql: Sql) -> None:
    sql.rows("begin")
    job = sql.enqueue(unique_key="k", group_key="g")
    sql.rows("rollback")
    assert sql.rows("select id from crontick.jobs where id = %s", job) == []
    assert sql.rows("select 1 from crontick.unique_keys union all select 1 from crontick.group_calls") == []


REFUSED = [
    ("'Mail'", "CT001", "kind 'Mail' is not a name"),
    ("null", "CT001", "kind null is not a name"),
    ("''", "CT001", "is not a name"),
    ("'_mail'", "CT001", "is not a name"),
    ("E'mail\\n'", "CT001", "is not a name"),
    (f"'{'k' * 65}'", "CT001", "64 at most"),
    ("'mail', queue => 'Slow lane'", "CT001", "queue 'Slow lane' is not a name"),
    ("'mail', jsonb_build_object('a', repeat('x', 65536))", "CT002", "65536 are allowed"),
    ("'mail', run_at => 'infinity'", "CT003", "between 2000 and ten years"),
    ("'mail', run_at => '-infinity'", "CT003", "between 2000 and ten years"),
    ("'mail', run_at => '1999-12-31 23:59:59Z'", "CT003", "between 2000 and ten years"),
    (f"'mail', run_at => {MONTHS}", "CT003", "between 2000 and ten years"),
    ("'mail', expires_at => now() - interval '1 s'", "CT003", "could never run"),
    ("'mail', run_at => now() + interval '2 h', expires_at => now() + interval '1 h'", "CT003", "could never run"),
    ("'mail', priority => 101", "CT004", "between -100 and 100"),
    ("'mail', priority => -101", "CT004", "between -100 and 100"),
    ("'mail', max_attempts => 0", "CT004", "between 1 and 100"),
    ("'mail', max_attempts => 101", "CT004", "between 1 and 100"),
    ("'mail', unique_key => ''", "CT004", "1 to 8192 bytes"),
    ("'mail', unique_key => repeat('x', 8193)", "CT004", "1 to 8192 bytes"),
    ("'mail', group_key => ''", "CT004", "1 to 8192 bytes"),
    ("'mail', group_key => repeat('ä', 4097)", "CT004", "1 to 8192 bytes"),
    ("'mail', on_conflict => 'update'", "CT004", "neither keep nor replace"),
    ("'mail', on_conflict => null", "CT004", "neither keep nor replace"),
    ("'mail', unique_key => 'k', unique_for => 'soon'", "CT004", "an interval such as"),
    ("'mail', unique_key => 'k', unique_for => null", "CT004", "an interval such as"),
    ("'mail', unique_key => 'k', unique_for => '-1 hour'", "CT004", "an interval such as"),
    ("'mail', unique_key => 'k', unique_for => '11 years'", "CT004", "an interval such as"),
    ("'mail', unique_key => 'k', unique_for => '999999999 years'", "CT004", "an interval such as"),
]


@pytest.mark.parametrize(("arguments", "state", "said"), REFUSED)
def test_nonsense_is_refused_with_a_state_of_its_own_and_a_hint(
    sql: Sql, arguments: str, state: str, said: str
) -> None:
    error = sql.refused(f"select crontick.enqueue({arguments})")
    assert (error.sqlstate, bool(error.diag.message_hint)) == (state, True)
    assert said in str(error)
    assert sql.one("select count(*) from crontick.jobs") == 0


def test_a_payload_of_exactly_64_kib_is_taken(sql: Sql) -> None:
    payload = json.dumps({"a": "x" * (65536 - len('{"a": ""}'))})
    assert (
        sql.one("select octet_length(payload::text) from crontick.jobs where id = %s", sql.enqueue(payload=payload))
        == 65536
    )
    assert sql.refused("select crontick.enqueue('mail', %s)", payload[:-2] + 'x"}').sqlstate == "CT002"


@pytest.mark.parametrize(
    "payload",
    [
        r'{"a":"\u0000"}',
        r'{"a":"\ude00"}',
        r'{"a":"\ud83d"}',
        '{"a":NaN}',
        '{"a":Infinity}',
        '{"a":01}',
        '{"n":1e131072}',
    ],
)
def test_json_that_cannot_be_stored_is_refused_by_its_caller_s_own_statement(sql: Sql, payload: str) -> None:
    assert (sql.refused("select crontick.enqueue('mail', %s)", payload).sqlstate or "").startswith("22")


def test_a_kind_that_nobody_knows_yet_is_taken_on_a_connection_in_latin_1(sql: Sql) -> None:
    sql.rows("set client_encoding to 'latin1'")
    assert sql.enqueue("unheard-of")
    assert any("no deployment of the last day knows" in notice for notice in sql.notices)


LARGE = {
    "a string of 16 MiB": '{"a":"' + "x" * 2**24 + '"}',
    "a key of 70,000 characters": '{"' + "k" * 70_000 + '":1}',
    "100,000 keys": json.dumps({f"k{n}": n for n in range(100_000)}),
}


@pytest.mark.parametrize("what", LARGE)
def test_what_is_large_in_whatever_way_is_refused_by_its_size(sql: Sql, what: str) -> None:
    error = sql.refused("select crontick.enqueue('mail', %s)", LARGE[what])
    assert (error.sqlstate, "65536 are allowed" in str(error)) == ("CT002", True)


def test_of_two_equal_keys_the_last_counts(sql: Sql) -> None:
    assert sql.job(sql.enqueue(payload='{"a": 1, "a": 2}'))["payload"] == {"a": 2}


def test_a_byte_order_mark_is_no_json(sql: Sql) -> None:
    assert sql.refused("select crontick.enqueue('mail', %s)", '\ufeff{"a": 1}').sqlstate == "22P02"


@pytest.mark.parametrize(
    "payload", [r'{"a": "x\\u0000y"}', '{"a": 1E2}', '"x"', "[]", '{"": 1}', '{"a": "\\uffff"}', "null"]
)
def test_odd_but_storable_json_arrives_unchanged(sql: Sql, payload: str) -> None:
    stored: Any = sql.job(sql.enqueue(payload=payload))["payload"]
    assert stored == json.loads(payload)


def test_an_unknown_kind_is_a_warning_and_its_job_waits(sql: Sql) -> None:
    job = sql.enqueue("mial")
    assert sql.notices == [
        "WARNING: no deployment of the last day knows the kind mial: its job waits for one that does"
    ]
    assert sql.job(job)["queue"] == "default"


def test_a_kind_that_nobody_knew_for_a_day_is_a_warning(sql: Sql) -> None:
    sql.later("25 hours")
    sql.enqueue()
    assert len(sql.notices) == 1


def test_with_strict_kinds_an_unknown_kind_is_an_error(sql: Sql) -> None:
    sql.rows("select crontick.sync_deployment('strict', '1', '[]', true)")
    error = sql.refused("select crontick.enqueue('mial')")
    assert (error.sqlstate, "crontick migrate" in (error.diag.message_hint or "")) == ("CT005", True)
    assert sql.enqueue("mail") > 0


def test_there_is_one_enqueue_and_no_overload(sql: Sql, database: str) -> None:
    migrate(database, environment="test", test_clock=True)
    counted = sql.rows(
        "select proname from pg_proc where pronamespace = 'crontick'::regnamespace group by 1 having count(*) > 1"
    )
    assert counted == []
