"""A world whose ``crontick.toml`` says what a test writes into it."""

from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.engine.conftest import World


class LimitedWorld(World):
    """``says`` writes the file that the next ticks read."""

    path: Path

    def says(self, text: str) -> None:
        self.path.write_text(text)
        self.settings["config_path"] = self.path

    async def waiting(self) -> dict[str, int]:
        """How many jobs each limit's lines hold, by the limit's name."""
        asked = "select split_part(held_by, ':', 2), count(*) from crontick.jobs where held_by ^@ 'limit:' group by 1"
        return dict(await self.rows(asked))


@pytest.fixture
def world(database: str, conn: psycopg.AsyncConnection[Any], tmp_path: Path) -> LimitedWorld:
    made = LimitedWorld(database, conn)
    made.path = tmp_path / "crontick.toml"
    return made
