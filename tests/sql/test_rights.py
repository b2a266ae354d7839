"""A right that is missing is named, outside of ticks too; whoever may tick may check its deployment."""

import re
from pathlib import Path

import pytest

from crontick.handler.cli.run import run
from crontick.jobs.rights import READING
from crontick.sql.migrate import migrate
from tests.operate.conftest import ADMIN, CRON, Api, app_of, settings_of
from tests.sql.conftest import Sql, as_role

OWNER = re.compile(r"```sql\n(do \$\$\ndeclare\n    v_alter.*?)```", re.DOTALL)
MAY_READ = (
    "select p.proname from pg_proc as p where p.pronamespace = 'crontick'::regnamespace"
    " and has_function_privilege('crontick_read', p.oid, 'execute')"
)


@pytest.mark.usefixtures("roles")
def test_a_command_names_the_right_that_its_role_lacks(
    database: str, sql: Sql, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sql.rows("select crontick.set_endpoint('crm', 'https://127.0.0.1')")
    read = "the database role may not read this: grant it crontick_read (docs: roles)\n"
    decide = "the database role may not decide this: grant it crontick_admin (docs: roles)\n"
    enqueue = "the database role may not enqueue: grant it crontick_enqueue (docs: roles)\n"
    tick = "the database role may not run ticks: grant it crontick_tick (docs: roles)"
    asked = {f"tick {command}": read for command in ("status", "ticks", "jobs", "limits", "webhook list", "why 1")}
    asked |= {"tick cancel 1": decide, "tick pause all": decide, "read pause all": decide}
    schema = "the database role may not change the schema: use its owner's in CRONTICK_MIGRATE_URL"
    asked |= {
        "tick migrate": schema,
        "read enqueue send_email": enqueue,
        "read tick": tick,
        "tick check": "",
        "tick tick": "",
    }
    monkeypatch.setenv("CRONTICK_ENVIRONMENT", "test")
    monkeypatch.setenv("CRON_SECRET", "3f9b1c0de7a24586b1f0")
    for words, said in asked.items():
        role, *command = words.split()
        monkeypatch.setenv("CRONTICK_DATABASE_URL", as_role(database, f"crontick_{role}"))
        status = run(command)
        told = capsys.readouterr()
        assert (words, status, said in told.err) == (words, 1 if said else 0, True), told


@pytest.mark.usefixtures("roles")
def test_the_doctor_looks_as_far_as_the_tick_role_may(
    database: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CRONTICK_ENVIRONMENT", "test")
    monkeypatch.setenv("CRON_SECRET", "3f9b1c0de7a24586b1f0")
    monkeypatch.setenv("CRONTICK_DATABASE_URL", as_role(database, "crontick_tick"))
    run(["doctor"])
    told = capsys.readouterr()
    assert "the jobs and the rest of the database were not looked at" in told.out, told
    assert "grant it crontick_read" in told.out


@pytest.mark.anyio
@pytest.mark.usefixtures("roles")
async def test_a_login_that_is_in_both_roles_serves_ticks_and_operators(database: str, sql: Sql) -> None:
    job = sql.enqueue()
    sql.rows("create role serving login in role crontick_tick, crontick_admin")
    try:
        api = Api(app_of(settings_of(as_role(database, "serving"))))
        asked = [("POST", f"/api/jobs/{job}/cancel", ADMIN, '{"by": "ann"}'), ("POST", "/cron/tick", CRON, "")]
        asked += [("GET", "/metrics", ADMIN, ""), ("GET", "/api/jobs", ADMIN, ""), ("GET", "/api/overview", ADMIN, "")]
        for method, path, token, body in asked:
            answer = await api.ask(method, path, token, content=body)
            assert (path, answer.status_code) == (path, 200), answer.text
    finally:
        sql.rows("drop role serving")


@pytest.mark.usefixtures("roles")
def test_the_functions_that_read_are_those_of_the_read_role(sql: Sql) -> None:
    assert {name for [name] in sql.rows(MAY_READ)} == READING


def test_a_schema_changes_its_owner_as_the_docs_say(database: str, sql: Sql) -> None:
    [block] = OWNER.findall(Path("docs/roles.md").read_text())
    sql.rows("create role crontick_owner login")
    try:
        sql.rows(block)
        others = sql.rows(
            "select c.relname from pg_class as c where c.relnamespace = 'crontick'::regnamespace"
            " and c.relowner <> 'crontick_owner'::regrole union all"
            " select p.proname from pg_proc as p where p.pronamespace = 'crontick'::regnamespace"
            " and p.proowner <> 'crontick_owner'::regrole union all"
            " select n.nspname from pg_namespace as n where n.nspname = 'crontick'"
            " and n.nspowner <> 'crontick_owner'::regrole"
        )
        assert others == []
        sql.rows(f"grant create on database {sql.conn.info.dbname} to crontick_owner")
        migrate(as_role(database, "crontick_owner"), environment="test")
    finally:
        sql.rows(
            "reassign owned by crontick_owner to current_user; drop owned by crontick_owner; drop role crontick_owner"
        )
