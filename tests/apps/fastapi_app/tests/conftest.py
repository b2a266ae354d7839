"""Each test is one transaction, which is rolled back: requests, jobs and the test itself all see it."""

import os
from collections.abc import AsyncIterator

import httpx
import pytest
from sqlalchemy import NullPool, text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from shop import mail
from shop.database import engine, sessions
from shop.main import app
from shop.orders import Stored

os.environ["CRONTICK_MODULES"] = "shop.background"


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
async def database(crontick_database: str) -> AsyncIterator[AsyncEngine]:
    """The schema of crontick is there; the shop's own tables are made beside it."""
    url = crontick_database.replace("postgresql://", "postgresql+psycopg://")
    made = create_async_engine(url, poolclass=NullPool)
    async with made.begin() as conn:
        await conn.run_sync(Stored.metadata.create_all)
    yield made
    await made.dispose()


@pytest.fixture
async def conn(database: AsyncEngine) -> AsyncIterator[AsyncConnection]:
    """The test's transaction. What sessions commit is a savepoint of it."""
    async with database.connect() as connection:
        await connection.begin()
        sessions.configure(bind=connection, join_transaction_mode="create_savepoint")
        yield connection
        sessions.configure(bind=engine, join_transaction_mode="conditional_savepoint")
        await connection.rollback()
    async with database.connect() as other:
        for table in ("orders", "crontick.jobs", "crontick.ticks", "crontick.attempts"):
            assert await other.scalar(text(f"select count(*) from {table}")) == 0, f"{table}: something is left"


@pytest.fixture
async def client(conn: AsyncConnection) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://shop.example") as made:
        yield made


@pytest.fixture
def outbox(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    sent: list[tuple[str, str]] = []

    async def keep(to: str, subject: str) -> None:
        sent.append((to, subject))

    monkeypatch.setattr(mail, "send", keep)
    return sent
