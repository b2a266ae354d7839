"""An empty folder, as a new project begins."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def fresh() -> Iterator[Path]:
    """Open to all, so that root's PostgreSQL can keep its data in it."""
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="crontick-fresh-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)
