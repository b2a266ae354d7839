"""Roles: each may do what its work needs, and nobody else anything; a hostile search path changes nothing."""

from datetime import timedelta
from typing import Any, Final

import msgspec
import psycopg
import pytest

from crontick.jobs import Context, kind
from crontick.jobs.deployment import load_deployment
from crontick.jobs.kinds.deliver_webhook import DeliverWebhook, deliver_webhook
from crontick.jobs.process import run_tick
from crontick.jobs.reminders import Reminder
from crontick.jobs.request import TickRequest
from crontick.jobs.sealing import Keyring
from crontick.jobs.settings import Settings
from crontick.sql import query
from tests.sql.conftest import Sql, as_role

HOUR = timedelta(hours=1)
FUNCTIONS = "select p.oid::regprocedure::text from pg_proc as p where p.pronamespace = 'crontick'::regnamespace"


def test_public_may_execute_nothing(sql: Sql) -> None:
    sql.rows("create role nobody_at_all login")
    try:
        may = sql.rows(f"{FUNCTIONS} and has_function_privilege('nobody_at_all', p.oid, 'execute')")
    finally:
        sql.rows("drop role nobody_at_all")
    assert may == []


def test_every_public_function_has_a_fixed_search_path(sql: Sql) -> None:
    loose = sql.rows(
        f"{FUNCTIONS} and p.prosecdef"
        " and not coalesce(p.proconfig::text like '%search_path=pg_catalog, pg_temp%', false)"
    )
    assert loose == []


@pytest.mark.usefixtures("roles")
def test_the_enqueue_role_enqueues_and_does_nothing_else(database: str) -> None:
    @kind("mail")
    async def mail(payload: dict[str, Any]) -> None: ...

    with psycopg.connect(as_role(database, "crontick_enqueue"), autocommit=True) as conn:
        assert conn.execute("select crontick.enqueue('mail', unique_key => 'k', group_key => 'g')").fetchone()
        assert mail.enqueue(conn, {}, run_at=60) > 0
        assert len(mail.enqueue_many(conn, [{}, {}])) == 2
        for refused in ("select * from crontick.jobs", "select crontick.cancel(1, 'me')", "select crontick.place()"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                conn.execute(refused.encode())


@pytest.mark.anyio
@pytest.mark.usefixtures("roles")
async def test_the_tick_role_runs_a_whole_tick(database: str, conn: psycopg.AsyncConnection[Any]) -> None:
    @kind("mail", marker="key")
    async def mail(payload: dict[str, Any], ctx: Context) -> None:
        async with ctx.once():
            pass
        async with ctx.once("second"):
            pass
        ctx.enqueue(child, {})

    @kind("child")
    async def child(payload: dict[str, Any], ctx: Context) -> None:
        async with ctx.db() as lent, lent.transaction():
            await ctx.complete(lent)

    @kind("broken")
    async def broken(payload: dict[str, Any]) -> None:
        raise ValueError

    soon = Reminder(
        name="soon", kind="mail", lead=HOUR, late=HOUR,
        query="select 'a' as item, :from + interval '30 minutes' as item_at, '{}'::jsonb as payload",
    )  # fmt: skip
    settings = Settings(database_url=as_role(database, "crontick_tick"), environment="test")
    deployment = load_deployment(settings, kinds=[mail, child, broken], reminders=[soon])
    deployment = msgspec.structs.replace(deployment, keyring=Keyring({"k1": bytes(32)}))
    await mail.enqueue(conn, {"key": "k"}, group_key="g")
    await broken.enqueue(conn, {}, unique_key="u")
    await conn.execute("select crontick.set_endpoint('crm', 'https://127.0.0.1')")
    await deliver_webhook.enqueue(conn, DeliverWebhook(endpoint="crm", body={}))
    summary = await run_tick(deployment, TickRequest())
    assert (summary.succeeded, summary.failed, summary.dead, summary.warnings) == (
        4,
        1,
        1,
        [
            "the test clock is installed: times may be moved",
            "alerts are active: dead_letters: `crontick alerts` tells since when, and the mend",
        ],
    )
    assert summary.reminders["soon"].fired == 1
    sealed = await (await conn.execute("select sealed from crontick.endpoints")).fetchall()
    assert sealed == [(True,)]
    await broken.enqueue(conn, {})
    dry = await run_tick(deployment, TickRequest(dry_run=True))
    assert [job.kind for job in dry.would_run or []] == ["broken"]


@pytest.mark.anyio
@pytest.mark.usefixtures("roles")
async def test_the_tick_role_may_ask_whether_a_payload_misfitted_before(database: str, sql: Sql) -> None:
    @kind("mail")
    async def mail(payload: dict[str, int]) -> None: ...

    settings = Settings(database_url=as_role(database, "crontick_tick"), environment="test")
    sql.enqueue(payload='{"n": "one"}')
    assert (await run_tick(load_deployment(settings, kinds=[mail]), TickRequest())).failed == 1
    sql.later("301 s")
    assert (await run_tick(load_deployment(settings, kinds=[mail]), TickRequest())).dead == 1


@pytest.mark.usefixtures("roles")
def test_the_read_role_reads_every_view_and_writes_nothing(database: str, sql: Sql) -> None:
    job = sql.enqueue()
    with psycopg.connect(as_role(database, "crontick_read"), autocommit=True) as conn:
        for view in (
            "jobs",
            "overview",
            "dead_letters",
            "doubts",
            "blocked_groups",
            "paused",
            "audit",
            "attempts",
            "markers",
            "ticks",
            "endpoints",
        ):
            conn.execute(f"select * from crontick.{view}".encode())
        assert conn.execute("select crontick.why(%s)", [job]).fetchone()
        for refused in (
            "select crontick.enqueue('mail')",
            "delete from crontick.ticks",
            "select secret from crontick.webhook_endpoints",
            "select url from crontick.webhook_endpoints",
            "select crontick.cancel(1, 'me')",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                conn.execute(refused.encode())


@pytest.mark.usefixtures("roles")
def test_the_admin_role_operates_and_the_audit_has_its_name(database: str, sql: Sql) -> None:
    dead, queued = sql.dead(), sql.enqueue(run_at="2027-01-01T00:00Z")
    with psycopg.connect(as_role(database, "crontick_admin"), autocommit=True) as conn:
        conn.execute("select crontick.requeue(%s, 'ann')", [dead])
        conn.execute("select crontick.run_now(%s, 'ann')", [queued])
        conn.execute("select crontick.cancel(%s, 'ann')", [queued])
        conn.execute("select crontick.pause('queue', 'q', 'ann')")
        assert conn.execute("select crontick.set_endpoint('crm', 'https://crm.example/hooks/T0P/s3cret')").fetchone()
        assert conn.execute("select name from crontick.endpoints").fetchall() == [("crm",)]
        urls = conn.execute("select url from crontick.webhook_endpoints").fetchall()
        assert urls == [("https://crm.example/hooks/T0P/s3cret",)]
        for refused in ("delete from crontick.finished_jobs", "select secret from crontick.webhook_endpoints"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                conn.execute(refused.encode())
    assert sql.rows("select distinct session_role from crontick.audit") == [("crontick_admin",)]


HIJACK = """
create schema mallory;
create table mallory.stolen (what text);
create function mallory.steal(text, text) returns boolean language plpgsql as
    $$ begin insert into mallory.stolen values ('operator'); return true; end $$;
create operator mallory.= (leftarg = text, rightarg = text, procedure = mallory.steal);
create operator mallory.!~ (leftarg = text, rightarg = text, procedure = mallory.steal);
create function mallory.sha256(bytea) returns bytea language plpgsql as
    $$ begin insert into mallory.stolen values ('sha256'); return ''; end $$;
create function mallory.octet_length(text) returns int language plpgsql as
    $$ begin insert into mallory.stolen values ('octet_length'); return 0; end $$;
create function mallory.now() returns timestamptz language plpgsql as
    $$ begin insert into mallory.stolen values ('now'); return 'epoch'; end $$;
set search_path = mallory, pg_catalog, public
"""


def test_functions_and_operators_of_a_hostile_search_path_are_not_called(sql: Sql) -> None:
    sql.rows(HIJACK)
    job = sql.enqueue(unique_key="k", group_key="g", unique_for="24 hours")
    sql.claim()
    sql.rows("select crontick.settle(11, %s, '{11}', null, null)", [job])
    sql.one("select crontick.why(%s)", job)
    sql.rows("select crontick.pause('queue', 'q', 'ann')")
    assert sql.rows("select what from mallory.stolen") == []
    assert sql.one("select status operator(pg_catalog.=) 'succeeded' from crontick.jobs")


LOOKS: Final = (
    *("read_state", "read_overview", "read_job", "explain_job", "list_jobs", "list_attempts"),
    *("list_alerts", "list_breakers", "list_dead_groups", "list_dead_letters", "list_doubts", "list_groups"),
    *("list_limits", "list_pauses", "list_schedules", "list_ticks", "list_due_moments", "read_tick_times"),
)
"""What commands that only look ask."""


@pytest.mark.usefixtures("roles")
def test_the_read_role_may_look_at_all_that_commands_show(database: str) -> None:
    asked: dict[str, Any] = {"at_most": 5, "look_at": 5, "id": 1, "unfinished": False, "finished": False}
    asked |= {"open_only": False, "active": True, "kind": "none"}
    refused = []
    with psycopg.connect(as_role(database, "crontick_read"), autocommit=True) as conn:
        for name in LOOKS:
            looked = query(name)
            try:
                conn.execute(looked.text.encode(), {value: asked.get(value) for value in looked.names})
            except psycopg.errors.InsufficientPrivilege as error:
                refused.append((name, str(error)))
    assert refused == []
