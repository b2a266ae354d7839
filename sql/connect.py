"""The connection of a tick: no session state, nothing prepared, so that it works through any transaction pooler."""

import asyncio
from typing import Any

import psycopg

__all__ = ["connect"]


async def connect(url: str, *, timeout_seconds: float) -> psycopg.AsyncConnection[Any]:
    """An open connection in autocommit mode. Raises ``psycopg.OperationalError`` or ``TimeoutError``.

    The time-out is asyncio's, which is exact; libpq's ``connect_timeout`` waits two seconds at least.
    """
    async with asyncio.timeout(timeout_seconds):
        return await psycopg.AsyncConnection.connect(
            url, autocommit=True, prepare_threshold=None, fallback_application_name="crontick"
        )
