"""The examples of docs/testing.md, and that of the README, are suites that pass."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"```python\n# (\S+\.py)[^\n]*\n(.*?)```", re.DOTALL)
SETTINGS = """
DATABASES = {"default": {"ENGINE": "django.db.backends.postgresql"}}
USE_TZ = True
"""
OPTIONS = "[pytest]\npythonpath = .\nanyio_mode = auto\nfilterwarnings = error\naddopts = --import-mode=importlib\n"


def sections() -> dict[str, list[tuple[str, str]]]:
    """Each section's files; those above the first are everybody's."""
    pieces = re.split(r"^## (.*)\n", (ROOT / "docs" / "testing.md").read_text(), flags=re.MULTILINE)
    shared = BLOCK.findall(pieces[0])
    found = {title: BLOCK.findall(text) for title, text in zip(pieces[1::2], pieces[2::2], strict=True)}
    readme = [file for file in BLOCK.findall((ROOT / "README.md").read_text()) if "/test_" in file[0]]
    return {title: shared + files for title, files in {**found, "README": readme}.items() if files}


@pytest.mark.parametrize("title", sections())
def test_the_examples_pass(title: str, server: str, tmp_path: Path) -> None:
    files = [("pytest.ini", OPTIONS), ("acme/settings.py", SETTINGS), *sections()[title]]
    for name, text in files:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("CRONTICK_", "PYTEST_"))}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    environ = kept | {"CRONTICK_TEST_DATABASE_URL": server}
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=environ, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(done.stdout.split(" passed")[0].split()[-1]) == sum(text.count("def test_") for _, text in files)


def test_there_are_as_many_as_the_page_has() -> None:
    assert list(sections()) == [
        "With a psycopg connection",
        "One attempt alone",
        "With SQLAlchemy, async",
        "With Django",
        "README",
    ]
