"""Django's set-up for a run: its connection goes to the database of the run, where its tables are made once."""

import os
from collections.abc import Iterator

import django
import psycopg
import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import setup_test_environment, teardown_test_environment

os.environ["DJANGO_SETTINGS_MODULE"] = "store.settings"
os.environ["CRONTICK_MODULES"] = "orders.background"
django.setup()


@pytest.fixture(scope="session", autouse=True)
def database(crontick_database: str) -> Iterator[str]:
    """The schema of crontick is there; Django's migrations make the store's tables beside it."""
    from store.settings import database

    connection.settings_dict.update(database(crontick_database))
    setup_test_environment()
    call_command("migrate", verbosity=0)
    yield crontick_database
    connection.close()
    teardown_test_environment()


@pytest.fixture(autouse=True)
def nothing_is_left(database: str) -> Iterator[None]:
    """Every test is a transaction that Django rolls back, and its jobs go with it."""
    yield
    with psycopg.connect(database) as other:
        for table in ("orders_order", "crontick.jobs", "crontick.ticks", "crontick.markers"):
            assert other.execute(f"select count(*) from {table}".encode()).fetchone() == (0,), table
