"""The engine, and the sessions that requests and jobs use alike."""

import os

from sqlalchemy.ext.asyncio import async_sessionmaker, create_async_engine

__all__ = ["engine", "sessions"]

engine = create_async_engine(os.environ.get("DATABASE_URL", "postgresql+psycopg://"))
sessions = async_sessionmaker(engine, expire_on_commit=False)
