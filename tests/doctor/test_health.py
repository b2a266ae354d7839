"""What around the jobs slows or endangers them: each finding is provoked on a real server, with its mend."""

from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest

from crontick.sql.migrate import migrate
from tests.cli.conftest import Command
from tests.doctor.conftest import Conn, said, wrong
from tests.worlds.waiting import until


def test_a_sound_database_is_well_and_the_zone_data_are_named(doctor: Command) -> None:
    answer = doctor()
    assert (answer.status, answer.out.splitlines()[-1]) == (0, "all is well")
    assert f"zone data {doctor('--json').json['zone_data']}" in answer.out
    assert wrong(doctor, "--old", "0s") == []


@pytest.mark.parametrize("writes", ["create table mine ()", "select pg_current_xact_id()"])
def test_an_old_transaction_that_wrote(doctor: Command, ward: str, writes: str) -> None:
    with psycopg.connect(ward, application_name="nightly export") as session:
        session.execute(writes.encode())
        [sentence] = wrong(doctor, "--old", "0s")
        assert sentence.startswith(f"a transaction of session {session.info.backend_pid} (postgres nightly export idle")
        assert f"`select pg_terminate_backend({session.info.backend_pid})`" in sentence
        assert wrong(doctor) == [], "it is younger than ten minutes"
        session.rollback()
        assert wrong(doctor, "--old", "0s") == []


def test_an_old_snapshot(doctor: Command, ward: str) -> None:
    with psycopg.connect(ward) as session:
        session.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        session.execute("select from crontick.unfinished_jobs")
        assert "`select pg_terminate_backend(" in wrong(doctor, "--old", "0s")[0]


def test_a_prepared_transaction(doctor: Command, owner: Conn) -> None:
    owner.execute("begin; create table mine (); prepare transaction 'lost in a crash'")
    try:
        [sentence] = wrong(doctor, "--old", "0s")
        assert "the prepared transaction lost in a crash" in sentence
        assert "`rollback prepared 'lost in a crash'`" in sentence
    finally:
        owner.execute("rollback prepared 'lost in a crash'")


def test_a_replication_slot_that_nobody_reads(doctor: Command, owner: Conn) -> None:
    owner.execute("select pg_create_physical_replication_slot('gone', true)")
    try:
        [sentence] = wrong(doctor)
        assert "nobody reads the replication slot gone (physical)" in sentence
        assert "`select pg_drop_replication_slot('gone')`" in sentence
    finally:
        owner.execute("select pg_drop_replication_slot('gone')")


def test_dead_rows_that_nobody_vacuums(doctor: Command, ward: str, owner: Conn) -> None:
    with psycopg.connect(ward, autocommit=True) as drained:
        drained.execute("set synchronous_commit = off")
        drained.execute("select crontick.enqueue('mail') from generate_series(1, 60000)")
        drained.execute("delete from crontick.unfinished_jobs")
    counted = "select n_dead_tup from pg_stat_user_tables where relid = 'crontick.unfinished_jobs'::regclass"
    until(lambda: (owner.execute(counted.encode()).fetchone() or [0])[0] >= 60_000, seconds=30)
    [sentence] = wrong(doctor)
    assert sentence.startswith("crontick.unfinished_jobs holds 60000 dead rows beside 0, and has never been vacuumed")
    owner.execute("vacuum crontick.unfinished_jobs")
    until(lambda: not wrong(doctor), seconds=30)


def test_a_server_without_autovacuum(doctor: Command, owner: Conn) -> None:
    owner.execute("alter system set autovacuum = off")
    owner.execute("select pg_reload_conf()")
    try:
        until(lambda: wrong(doctor), seconds=30)
        assert "`alter system set autovacuum = on; select pg_reload_conf()`" in wrong(doctor)[0]
    finally:
        owner.execute("alter system reset autovacuum")
        owner.execute("select pg_reload_conf()")
        until(lambda: not wrong(doctor), seconds=30)


def test_a_table_that_autovacuum_passes_over(doctor: Command, owner: Conn) -> None:
    owner.execute("alter table crontick.claims set (autovacuum_enabled = false)")
    [sentence] = wrong(doctor)
    assert "`alter table crontick.claims reset (autovacuum_enabled)`" in sentence


def test_commits_that_a_crash_takes_back_matter_but_where_things_are_tried_out(
    doctor: Command, owner: Conn, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner.execute(f"alter database {owner.info.dbname} set synchronous_commit = off".encode())
    [sentence] = wrong(doctor)
    assert sentence.startswith("synchronous_commit is off")
    owner.execute("update crontick.installation set environment = 'dev'")
    monkeypatch.setenv("CRONTICK_ENVIRONMENT", "dev")
    assert wrong(doctor) == []
    assert "synchronous_commit is off" in said(doctor)


def test_a_server_that_does_not_sync_is_told_and_is_no_fault_for_tests(
    bare: Command, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRONTICK_DATABASE_URL", database)
    monkeypatch.setenv("CRONTICK_ENVIRONMENT", "test")
    answer = bare("doctor")
    assert (answer.status, "- fsync is off" in answer.out) == (0, True)


def test_a_standby_that_no_commit_waits_for_is_told_and_is_no_fault(doctor: Command, ward: str, owner: Conn) -> None:
    options = f"{ward}&replication=true&application_name=spare"
    standby = psycopg.pq.PGconn.connect(options.encode())
    try:
        standby.exec_(b"START_REPLICATION PHYSICAL 0/1000000")
        here = "select exists (select from pg_stat_replication)"
        until(lambda: owner.execute(here.encode()).fetchone() == (True,), seconds=30)
        assert "every standby is asynchronous (spare)" in said(doctor)
        assert wrong(doctor) == []
    finally:
        standby.finish()


def test_retention_that_the_database_refuses(doctor: Command, owner: Conn) -> None:
    owner.execute("update crontick.installation set prune_error = '23503: mine refers to it'")
    [sentence] = wrong(doctor)
    assert sentence.startswith("retention cannot delete (23503: mine refers to it)")


def test_rows_that_retention_has_not_come_to(doctor: Command, owner: Conn) -> None:
    insert = (
        "insert into crontick.finished_jobs"
        " (id, run_at, created_at, finished_at, priority, attempt, kind, queue, status, payload)"
        " select -n, now(), now(), now() - %s::interval, 0, 1, 'any', 'default', %s, '{}'"
        " from generate_series(1, %s) as n"
    )
    owner.execute(insert.encode(), ("7 days 23 hours", "succeeded", 5))
    owner.execute(insert.replace("-n,", "-n - 100,").encode(), ("300 days", "dead", 5))
    assert wrong(doctor) == []
    owner.execute(insert.replace("-n,", "-n - 200,").encode(), ("8 days 1 hour", "cancelled", 7))
    [sentence] = wrong(doctor)
    assert sentence.startswith("finished jobs whose time was over more than a day ago: 7:")
    owner.execute("insert into crontick.successes values (now() - interval '9 days', '{1,2,3}'), (now(), '{4}')")
    [sentence] = wrong(doctor)
    assert sentence.startswith("finished jobs whose time was over more than a day ago: 10:")


def test_more_dead_letters_than_anybody_decides_on(doctor: Command, owner: Conn) -> None:
    owner.execute(
        "insert into crontick.finished_jobs"
        " (id, run_at, created_at, finished_at, priority, attempt, kind, queue, status, payload)"
        " select -n, now(), now(), now(), 0, 1, 'any', 'default', 'dead', '{}' from generate_series(1, 10001) as n"
    )
    assert "more than 10000 dead jobs wait for a decision" in wrong(doctor)[0]


def test_roles_that_are_missing_or_were_made_later(doctor: Command, ward: str, owner: Conn) -> None:
    assert "these roles are not there: crontick_enqueue, crontick_tick" in said(doctor)
    owner.execute("create role crontick_tick")
    try:
        [sentence] = wrong(doctor)
        assert sentence.startswith("the role crontick_tick was made after the schema")
        migrate(ward)
        assert wrong(doctor) == []
        assert (
            "not there: crontick_enqueue, crontick_read, crontick_admin: `create role crontick_enqueue; create role"
            in said(doctor)
        )
    finally:
        owner.execute("drop owned by crontick_tick; drop role crontick_tick")


@pytest.mark.parametrize(("environment", "faults"), [("test", 0), ("production", 1)])
def test_the_test_clock_is_told_and_is_a_fault_in_production(
    doctor: Command, owner: Conn, monkeypatch: pytest.MonkeyPatch, environment: str, faults: int
) -> None:
    monkeypatch.setenv("CRONTICK_ENVIRONMENT", environment)
    owner.execute("insert into crontick.test_clock (ahead) values ('3 hours')")
    owner.execute("update crontick.installation set environment = %s", (environment,))
    assert len(wrong(doctor)) == faults
    assert "the test clock is installed, 3h ahead" in doctor().out


def test_who_sees_only_its_own_sessions_is_told(
    doctor: Command, ward: str, owner: Conn, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner.execute("create role crontick_read login")
    try:
        migrate(ward)
        parts = urlsplit(ward)
        host = parts.netloc.rpartition("@")[2]
        monkeypatch.setenv("CRONTICK_DATABASE_URL", urlunsplit(parts._replace(netloc=f"crontick_read@{host}")))
        assert "transactions of other roles older than 10m are not seen" in said(doctor)
        assert wrong(doctor) == []
    finally:
        owner.execute("drop owned by crontick_read; drop role crontick_read")
