"""The engine, and the sessions that requests and jobs use alike."""

import os

from sqlalchemy.ext.asyncio import async_sessionmaker, create_async_engine

__all__ = ["engine", "sessions"]

_URL = os.environ.get("DATABASE_URL", "postgresql://")
engine = create_async_engine(_URL.replace("postgresql://", "postgresql+psycopg://", 1))
sessions = async_sessionmaker(engine, expire_on_commit=False)
