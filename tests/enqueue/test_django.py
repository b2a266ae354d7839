"""Django, as docs/frameworks.md tells it: enqueue in atomic, tick with the ORM, leave no connection behind."""

from typing import Any

import psycopg
import pytest

from tests.enqueue.documents import write
from tests.enqueue.project import Project, jobs

Connection = psycopg.Connection[Any]

SETTINGS = """
import os
from urllib.parse import parse_qsl, urlsplit

parts = urlsplit(os.environ["CRONTICK_DATABASE_URL"])
DATABASES = {"default": {
    "ENGINE": "django.db.backends.postgresql", "NAME": parts.path[1:], "USER": parts.username,
    "HOST": dict(parse_qsl(parts.query)).get("host", parts.hostname or ""), "PORT": parts.port or "",
    "OPTIONS": {"application_name": "django"},
}}
INSTALLED_APPS = ["acme"]
USE_TZ = True
"""
MODELS = """
from django.db import models

class Order(models.Model):
    id = models.IntegerField(primary_key=True)
    receipt_sent = models.BooleanField(default=False)

    class Meta:
        db_table = "orders"
"""
ASYNC = """
import asyncio
from time import monotonic

from acme.background import send_receipt
from acme.models import Order
from crontick.jobs import Context, kind

@kind("cancel_receipt")
async def cancel_receipt(payload: dict[str, int]) -> None:
    await Order.objects.filter(id=payload["order_id"]).aupdate(receipt_sent=False)

@kind("look", priority=-9)
async def look(payload: dict[str, float], ctx: Context) -> int:
    '''How many connections of Django's there still are, at the deadline if not none.'''
    deadline = monotonic() + payload["seconds"]
    asked = "select count(*) from pg_stat_activity where application_name = 'django' and datname = current_database()"
    async with ctx.db() as conn:
        while (found := (await (await conn.execute(asked)).fetchone())[0]) and monotonic() < deadline:
            await asyncio.sleep(0.01)
    return found
"""
VIEW = """
import django
django.setup()
from django.db import connection
from acme.background import SendReceipt
from acme.views import order

print(order(None, 42).content.decode())
try:
    order(None, 42)
except Exception as error:
    print(type(error).__name__)
"""
TICK = "import asyncio; from crontick.jobs import process_jobs; print(asyncio.run(process_jobs()).succeeded)"


@pytest.fixture
def site(project: Project) -> Project:
    """A Django project of one app."""
    write(project.folder, "Django")
    project.add("acme/__init__.py", "")
    project.add("acme/models.py", MODELS)
    project.add("acme/settings.py", SETTINGS)
    project.add("acme/more.py", ASYNC)
    return project


def run(site: Project, script: str, **env: str) -> list[str]:
    return site.run(script, DJANGO_SETTINGS_MODULE="acme.settings", CRONTICK_MODULES="acme.background,acme.more", **env)


def test_a_view_enqueues_in_its_transaction_and_the_function_completes_in_one(
    site: Project, orders: Connection
) -> None:
    assert run(site, VIEW) == ['{"job": 1}', "IntegrityError"]
    assert run(site, TICK, CRONTICK_AROUND="acme.around:around") == ["1"]
    assert jobs(orders, "kind, status") == [("send_receipt", "succeeded")]
    assert orders.execute("select id, receipt_sent from orders").fetchall() == [(42, True)]


@pytest.mark.parametrize("kind", ["send_receipt", "cancel_receipt"])
@pytest.mark.parametrize(("around", "seconds", "left"), [("acme.around:around", 10, 0), ("", 0, 1)])
def test_the_hook_closes_the_connection_of_a_function_and_without_it_one_stays(
    site: Project, orders: Connection, kind: str, around: str, seconds: float, left: int
) -> None:
    orders.execute("select crontick.enqueue(%s, '{\"order_id\": 42}')", (kind,))
    orders.execute(
        "select crontick.enqueue('look', jsonb_build_object('seconds', %s::int), priority => -9)", (seconds,)
    )
    assert run(site, TICK, CRONTICK_AROUND=around, CRONTICK_CONCURRENCY="1") == ["2"]
    assert jobs(orders, "result")[1] == (left,)
