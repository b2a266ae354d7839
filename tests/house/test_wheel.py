"""The wheel has every file that is needed, and none that is not."""

import re
import shutil
import subprocess
import sys
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("handler", "jobs", "sql")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """Built from a copy: what an earlier build left would get into it."""
    copy = tmp_path_factory.mktemp("source")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    for folder in (*FOLDERS, "deploy"):
        shutil.copytree(ROOT / folder, copy / folder)
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(copy), str(copy)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = copy.glob("*.whl")
    return zipfile.ZipFile(path)


def test_it_has_every_file_that_it_works_with_and_says_that_it_is_typed(wheel: zipfile.ZipFile) -> None:
    packed = {name for name in wheel.namelist() if not re.search(r"\.dist-info/|^crontick/deploy/", name)}
    endings = {".py", ".sql", ".template", ".html", ".css", ".js", ".svg", ".toml"}
    sources = {path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.suffix in endings}
    expected = {f"crontick/{path.relative_to(ROOT)}" for path in sources}
    assert packed == expected | {f"crontick/{folder}/py.typed" for folder in FOLDERS}


def test_it_has_what_init_writes_and_none_of_the_examples(wheel: zipfile.ZipFile) -> None:
    files = {path.relative_to(ROOT) for path in (ROOT / "deploy").rglob("*") if path.is_file()}
    written = {str(path) for path in files if path.parts[1] != "examples" and "__pycache__" not in path.parts}
    packed = {name.removeprefix("crontick/"): wheel.read(name) for name in wheel.namelist() if "/deploy/" in name}
    assert packed == {name: (ROOT / name).read_bytes() for name in written}


def test_its_metadata_name_the_licence_and_the_pythons(wheel: zipfile.ZipFile) -> None:
    (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    metadata = Parser().parsestr(wheel.read(name).decode())
    assert (metadata["License-Expression"], metadata["Requires-Python"]) == ("Apache-2.0", ">=3.11")
    assert any(name.endswith("licenses/LICENSE") for name in wheel.namelist())


def test_the_workflow_that_it_writes_is_the_one_that_ships(wheel: zipfile.ZipFile) -> None:
    for name, source in (
        ("cron-tick.yml", "workflows/cron-tick.yml"),
        ("action.yml", "actions/tick/action.yml"),
        ("tick.py", "actions/tick/tick.py"),
    ):
        packed = wheel.read(f"crontick/handler/init/github/{name}.template")
        assert packed == (ROOT / ".github" / source).read_bytes()
