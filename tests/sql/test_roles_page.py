"""docs/roles.md: its lines make roles with which each part does its work, and nothing beside."""

import re
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from crontick.jobs.deployment import load_deployment
from crontick.jobs.process import run_tick
from crontick.jobs.request import TickRequest
from crontick.jobs.settings import Settings
from crontick.sql.migrate import migrate
from tests.sql.conftest import as_role

PAGE = Path(__file__).parents[2] / "docs" / "roles.md"
LINES = [lines for lines in re.findall(r"```sql\n(.+?)```", PAGE.read_text(), re.DOTALL) if "alter schema" not in lines]
"""All but what is for a schema that is there already."""
MADE = re.findall(r"^create role (\w+)", "\n".join(LINES), re.MULTILINE)
REFUSED = {
    "ticker": ["create table crontick.mine ()", "select crontick.cancel(1, 'me')", "drop table crontick.ticks"],
    "app": ["select * from crontick.jobs", "select crontick.pause('all', '', 'me')", "select crontick.place()"],
    "ann": ["delete from crontick.ticks", "select secret from crontick.webhook_endpoints"],
}


@pytest.fixture
def deployed(server: str, raw_database: str) -> Iterator[str]:
    """The page's lines, executed by a superuser, and then the migration of its deployer."""
    with psycopg.connect(raw_database, autocommit=True) as admin:
        for lines in LINES:
            admin.execute(lines.encode())
        try:
            migrate(as_role(raw_database, "deployer"), environment="test", test_clock=True)
            yield raw_database
        finally:
            for role in reversed(MADE):
                admin.execute(f"drop owned by {role} cascade; drop role {role}".encode())


@pytest.mark.anyio
async def test_each_part_does_its_work_with_its_own_role(deployed: str) -> None:
    with psycopg.connect(as_role(deployed, "app"), autocommit=True) as app:
        app.execute("select crontick.enqueue('nobody_knows')")
    settings = Settings(database_url=as_role(deployed, "ticker"), environment="test")
    assert (await run_tick(load_deployment(settings), TickRequest())).ran
    with psycopg.connect(as_role(deployed, "ann"), autocommit=True) as ann:
        assert ann.execute("select crontick.cancel(1, 'ann on the phone')").fetchone() == ("cancelled",)
        audit = ann.execute("select by, session_role from crontick.audit").fetchall()
    assert audit == [("ann on the phone", "ann")]


def test_the_schema_belongs_to_a_role_without_login(deployed: str) -> None:
    owners = (
        "select distinct pg_get_userbyid(p.proowner) from pg_proc as p where p.pronamespace = 'crontick'::regnamespace"
        " union select distinct pg_get_userbyid(c.relowner) from pg_class as c"
        " where c.relnamespace = 'crontick'::regnamespace"
    )
    with psycopg.connect(deployed) as conn:
        assert conn.execute(owners.encode()).fetchall() == [("crontick_owner",)]
        login = conn.execute("select rolcanlogin from pg_roles where rolname = 'crontick_owner'").fetchone()
    assert login == (False,)


@pytest.mark.parametrize(("role", "refused"), [(role, text) for role, texts in REFUSED.items() for text in texts])
def test_nobody_may_do_more(deployed: str, role: str, refused: str) -> None:
    with psycopg.connect(as_role(deployed, role), autocommit=True) as conn:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            conn.execute(refused.encode())
