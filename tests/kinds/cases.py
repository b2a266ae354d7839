"""Known right answers, read from ``data``."""

import json
from pathlib import Path
from typing import Any

import pytest


def cases(name: str) -> list[Any]:
    """The cases of a file, each under its name."""
    read = json.loads((Path(__file__).parent / "data" / f"{name}.json").read_text())
    return [pytest.param(case, id=case["name"]) for case in read]
