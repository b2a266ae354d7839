"""A day of a made-up shop, lived by real ticks: what the page has to show."""

from pathlib import Path
from typing import Any, Final

import psycopg

from crontick.jobs.caller import Caller
from crontick.jobs.deployment import load_deployment
from crontick.jobs.process import run_tick
from crontick.jobs.request import TickRequest
from crontick.jobs.settings import Settings
from tests.dashboard import acme

CONFIG: Final = """
[[schedule]]
name = "nightly_receipts"
cron = "30 2 * * *"
tz = "Europe/Berlin"
kind = "send_receipt"
payload = { order_id = 1 }

[limits.images]
queue = "images"
rate = "6/hour"
"""
KINDS: Final = (
    acme.send_receipt,
    acme.resize_image,
    acme.sync_to_crm,
    acme.charge_card,
    acme.renew_licence,
    acme.announce,
)
TICKS: Final = 48
_MINUTES: Final = (15, 15, 16, 14, 15, 22, 15, 9, 15, 15, 31, 15)
"""Between ticks, over and over: as a trigger that is late at times."""
_SINCE: Final = 4
"""Minutes since the last tick."""
_AFTERWARDS: Final = """
select crontick.pause('queue', 'exports', 'ann', 'the warehouse is moving');
select crontick.enqueue('send_receipt', '{"order_id": 9001}', queue => 'exports');
select crontick.enqueue('renew_licence', '{"order_id": 7}', group_key => 'licence:7');
select crontick.enqueue('renew_licence', '{"order_id": 8}', group_key => 'licence:7');
select crontick.set_endpoint('crm', 'https://hooks.crm.example/in', by => 'ann');
select crontick.open_breaker('endpoint:crm', 'bo', 'they are being maintained until noon');
"""


async def tell(url: str, folder: Path, key: str) -> None:
    """Fill a migrated database whose clock can be set; the day ends now, by a clock that runs as others do."""
    config = folder / "crontick.toml"
    config.write_text(CONFIG)
    settings = Settings(
        database_url=url,
        environment="test",
        keep_connection_seconds=0,
        config_path=config,
        encryption_keys=(key,),
    )
    deployment = load_deployment(settings, kinds=KINDS)
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as conn:
        minutes = [_MINUTES[nth % len(_MINUTES)] for nth in range(TICKS)]
        await _later(conn, -sum(minutes) - _SINCE)
        for nth, passed in enumerate(minutes):
            await _enqueue(conn, nth)
            await run_tick(deployment, TickRequest(), caller=Caller(trigger="github-actions"))
            await _later(conn, passed)
        for statement in _AFTERWARDS.strip().splitlines():
            await conn.execute(statement.encode())
        await run_tick(deployment, TickRequest(), caller=Caller(trigger="github-actions"))
        await acme.send_receipt.enqueue(conn, acme.Order(9002, acme.SCRIPT))
        await conn.execute("delete from crontick.test_clock")


async def _later(conn: psycopg.AsyncConnection[Any], minutes: int) -> None:
    await conn.execute("update crontick.test_clock set ahead = ahead + make_interval(mins => %s)", (minutes,))


async def _enqueue(conn: psycopg.AsyncConnection[Any], nth: int) -> None:
    for order in range(nth * 20, nth * 20 + 3 + nth * 7 % 11):
        await acme.send_receipt.enqueue(conn, acme.Order(order))
    await acme.resize_image.enqueue(conn, acme.Order(nth))
    if nth % 5 == 2:
        await acme.sync_to_crm.enqueue(conn, acme.Order(nth, acme.SCRIPT))
    if nth in (20, 31):
        await acme.charge_card.enqueue(conn, acme.Order(nth, "4000-0000-0000-0002"))
    if nth == 40:
        await acme.announce.enqueue(conn, acme.Order(40, "spring sale to ann@example.com"))
