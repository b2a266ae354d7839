"""Reports where else they are met: least rights, secret parameters, functions, inside an app, on Lambda, in check."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from crontick.handler.inside import inside
from crontick.jobs import Context, kind
from crontick.jobs.deployment import load_deployment
from crontick.jobs.kinds.signature import new_secret
from crontick.jobs.links import check_link
from crontick.jobs.process import run_tick
from crontick.jobs.request import TickRequest
from crontick.jobs.settings import Settings
from crontick.jobs.testing import Succeeded, run_async
from tests.cli.conftest import Command, bare, cli
from tests.door.serving import ADMIN, exchange, head, served
from tests.on_lambda import events
from tests.on_lambda.conftest import runtime_api, world
from tests.on_lambda.world import World
from tests.reports.conftest import SALES, Reports
from tests.secrecy.conftest import new_key
from tests.sql.conftest import as_role, roles

__all__ = ["bare", "cli", "roles", "runtime_api", "world"]


@pytest.mark.usefixtures("roles")
async def test_the_tick_role_makes_and_reads_a_report(reports: Reports) -> None:
    await reports.rows("grant select on sales to crontick_tick")
    await reports.sell(*range(1, 36))
    run = await reports.start()
    owner, reports.url = reports.url, as_role(reports.url, "crontick_tick")
    await reports.tick()
    assert (await reports.run(run))["status"] == "succeeded"
    settings = Settings(database_url=reports.url, admin_secrets=(ADMIN,))
    with served(app_of(settings)) as address:
        answer = exchange(address, head("GET", f"/api/reports/{run}/download", token=ADMIN))
    assert answer.body == await reports.content(run)
    for role in ("crontick_enqueue", "crontick_read"):
        with psycopg.connect(as_role(owner, role)) as conn, pytest.raises(psycopg.errors.InsufficientPrivilege):
            conn.execute("select * from crontick.report_parts")


def app_of(settings: Settings) -> Any:
    from crontick.handler.app import create_app
    from tests.door.serving import Ticks

    ticks = Ticks()
    return create_app(settings, run_tick=ticks.run, check_ready=ticks.check_ready)


async def test_secret_parameters_rest_sealed_in_every_part(reports: Reports, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = 'parameters = { not = "text" }\n[kinds.generate_report]\nsecret = ["parameters"]\n'
    reports.say(SALES.replace("from sales", "from sales where buyer <> :not") + secret)
    key = new_key("k1")
    monkeypatch.setenv("CRONTICK_ENCRYPTION_KEYS", key)
    reports.settings = {"encryption_keys": (key,)}
    await reports.sell(*range(1, 36))
    run = await reports.start({"report": "sales", "parameters": {"not": "somebody in particular"}})
    for _ in range(2):
        await reports.tick(limit=2)
    assert (await reports.run(run))["row_count"] == 35
    for table in ("jobs", "report_files", "attempts"):
        told = await reports.rows(f"select coalesce(string_agg(t::text, ' '), '') from crontick.{table} as t")
        assert "somebody in particular" not in told[0][0]


async def test_a_function_can_make_a_link(reports: Reports, monkeypatch: pytest.MonkeyPatch) -> None:
    @kind("tell")
    async def tell(payload: int, ctx: Context) -> list[str]:
        return [ctx.report_link(payload), ctx.report_link(payload, progress=True)]

    secret = new_secret()
    job = await tell.enqueue(reports.conn, 7)
    settings = Settings(
        database_url=reports.url, environment="test", public_url="https://app.example", signing_secrets=(secret,)
    )
    await run_tick(load_deployment(settings, kinds=[tell]), TickRequest())
    [(links,)] = await reports.rows("select result from crontick.jobs where id = %s", job)
    for link, path in zip(links, ("/api/reports/7/download", "/api/reports/7"), strict=True):
        told, _, query = link.partition("?")
        assert told == f"https://app.example{path}"
        check_link((secret,), path, query)
    monkeypatch.setenv("CRONTICK_PUBLIC_URL", "https://app.example")
    monkeypatch.setenv("CRONTICK_SIGNING_SECRET", secret)
    assert isinstance(await run_async(tell, 7), Succeeded)


@pytest.fixture
def wrapped(database: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, int]]:
    """What an app has under the prefix."""
    monkeypatch.setenv("CRONTICK_DATABASE_URL", database)
    monkeypatch.setenv("CRONTICK_ENVIRONMENT", "test")
    monkeypatch.setenv("CRONTICK_ADMIN_SECRET", ADMIN)
    monkeypatch.delenv("CRON_SECRET", raising=False)
    with served(inside()) as address:
        yield address


async def test_inside_an_app_they_are_under_the_prefix(reports: Reports, wrapped: tuple[str, int]) -> None:
    await reports.sell(1)
    run = await reports.start()
    await reports.tick()
    path = f"/crontick/api/reports/{run}"
    assert exchange(wrapped, head("GET", path, token=ADMIN)).json["download"] == f"{path}/download"
    assert exchange(wrapped, head("GET", f"{path}/download", token=ADMIN)).body == await reports.content(run)


@pytest.mark.parametrize("packed", [False, True])
def test_on_lambda_a_large_file_comes_in_ranges(world: World, tmp_path: Path, packed: bool) -> None:  # noqa: FBT001
    made(world, tmp_path, packed=packed)
    [(run, size)] = world.conn.execute("select id, byte_count from crontick.report_runs").fetchall()
    assert size > 3_000_000
    world.start(CRONTICK_ADMIN_SECRET=ADMIN)
    path, token = f"/api/reports/{run}/download", f"Bearer {ADMIN}"
    refused = world.invoke(events.gateway2(path, method="GET", headers={"authorization": token})).answer
    assert (refused["statusCode"], "ask for ranges" in refused["body"]) == (413, True)
    got = 0
    while got < size:
        headers = {"authorization": token, "range": f"bytes={got}-"}
        posted = world.invoke(events.gateway2(path, method="GET", headers=headers)).answer
        assert posted["statusCode"] == 206
        assert len(json.dumps(posted, ensure_ascii=False)) < 6 * 2**20
        got += int(posted["headers"]["content-length"])
    assert got == size


def made(world: World, folder: Path, *, packed: bool) -> None:
    """A report of five megabytes that no compression makes smaller, made by a tick in this process."""
    import asyncio

    config = folder / "crontick.toml"
    config.write_text(SALES.replace("chunk_rows = 10", "chunk_rows = 1000"))
    world.conn.execute(
        "create table sales as select n as id, string_agg(md5(random()::text || m), '') as buyer, 1 as amount"
        " from generate_series(1, 5000) as n, generate_series(1, 64) as m group by 1"
    )
    payload = json.dumps({"report": "sales", "gzip": packed})
    world.conn.execute("select crontick.enqueue('generate_report', %s)", (payload,))
    settings = Settings(database_url=world.url, environment="test", config_path=config, keep_connection_seconds=0)
    asyncio.run(run_tick(load_deployment(settings), TickRequest()))


@pytest.mark.parametrize(
    ("key", "said"), [("id", "all is well"), ("idd", "report.query: sales: column q.idd does not exist")]
)
def test_check_has_the_database_read_each_report(
    cli: Command, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str, said: str
) -> None:
    with psycopg.connect(database, autocommit=True) as conn:
        conn.execute("create table sales (id bigint, buyer text, amount numeric)")
    config = tmp_path / "crontick.toml"
    config.write_text(SALES.replace('key = "id"', f'key = "{key}"'))
    monkeypatch.setenv("CRONTICK_CONFIG", str(config))
    assert said in cli("check").out
