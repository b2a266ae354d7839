"""An application of its own, in a folder and in processes of its own."""

import os
from pathlib import Path
from typing import Any

import psycopg

from tests.worlds.process import ROOT, Processes

MODELS = """
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

class Base(DeclarativeBase): ...

class Order(Base):
    __tablename__ = "orders"
    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
"""


class Project:
    """A folder with an application in it, made of the document's pieces."""

    def __init__(self, folder: Path, url: str, processes: Processes) -> None:
        self.folder = folder
        self.url = url
        self.processes = processes
        self.add("acme/models.py", MODELS)

    def add(self, name: str, text: str) -> None:
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / name).write_text(text)

    def run(self, script: str, driver: str = "psycopg", **env: str) -> list[str]:
        """What a script says, in a process of the project's own."""
        given = {
            "PYTHONPATH": f"{self.folder}{os.pathsep}{ROOT}",
            "DATABASE_URL": self.url.replace("://", f"+{driver}://", 1),
            "CRONTICK_DATABASE_URL": self.url,
            "CRONTICK_ENVIRONMENT": "test",
            "CRONTICK_MODULES": "acme.background",
            "CRON_SECRET": "a-secret-of-this-test",
        }
        child = self.processes.run("-c", script, env=given | env)
        assert child.wait() == 0, child.errors
        return child.rest()


def jobs(conn: psycopg.Connection[Any], what: str = "kind, status") -> list[tuple[Any, ...]]:
    return conn.execute(f"select {what} from crontick.jobs order by id".encode()).fetchall()
