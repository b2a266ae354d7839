"""A runner for each test."""

from pathlib import Path

import pytest

from tests.trigger.calling import Runner
from tests.worlds.process import Processes


@pytest.fixture
def runner(processes: Processes, tmp_path: Path) -> Runner:
    return Runner(processes, tmp_path)
