"""A project's folder as somebody has it in their home, and ``crontick dev`` in it."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.dev.developing import BACKGROUND, MAIN


@pytest.fixture
def project() -> Iterator[Path]:
    """A FastAPI app and two kinds; the folder is open to all, so that root's server can keep its data in it."""
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="crontick-project-") as folder:
        path = Path(folder)
        path.chmod(0o755)
        (path / "background.py").write_text(BACKGROUND)
        (path / "main.py").write_text(MAIN)
        yield path
