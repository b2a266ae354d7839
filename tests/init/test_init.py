"""What ``crontick init`` writes is what its commands need, and passes what a careful project checks."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from crontick.handler.init import names, template_set, write
from tests.dev.developing import COMMAND, develop
from tests.worlds.process import Processes

ROOT = Path(__file__).parents[2]
WAIVED = "COM812,CPY,D103,D203,D213,EM,INP,S101,TC,TRY003"
"""Of all of ruff's rules: those that contradict others, and those that most projects ignore."""
NO_HEARTBEAT = "crontick.toml has no [heartbeat]: when nobody calls the tick, nobody notices (docs/alerts.md)"


def crontick(project: Path, *arguments: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", COMMAND, str(project), *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True, env={**os.environ, **(env or {})})


def passes(project: Path, *module: str, env: dict[str, str] | None = None) -> None:
    command, environ = [sys.executable, "-m", *module], {**os.environ, **(env or {})}
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=project, env=environ)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("package", [None, "acme", "acme.jobs"])
def test_what_it_writes_passes_ruff_and_its_own_test(tmp_path: Path, server: str, package: str | None) -> None:
    folder = tmp_path.joinpath(*(package or "").split("."))
    folder.mkdir(parents=True, exist_ok=True)
    done = crontick(tmp_path, "init", *(["--package", package] if package else []))
    assert done.returncode == 0, done.stderr
    assert (folder / "background.py").exists()
    passes(tmp_path, "ruff", "check", "--isolated", "--select", "ALL", "--ignore", WAIVED, ".")
    passes(tmp_path, "ruff", "format", "--isolated", "--check", ".")
    env = {"CRONTICK_TEST_DATABASE_URL": server}
    passes(tmp_path, "pytest", "-q", "-p", "no:cacheprovider", "test_background.py", env=env)


def test_what_it_writes_passes_mypy(tmp_path: Path) -> None:
    (tmp_path / "acme").mkdir()
    write(template_set("project"), tmp_path, package="acme")
    kept = f"--cache-dir={ROOT / '.mypy_cache' / 'init'}"  # what a run found out of the libraries, the next one knows
    passes(tmp_path, "mypy", "--strict", "--config-file=", kept, "test_background.py")


def test_check_finds_nothing_wrong_with_it(tmp_path: Path) -> None:
    write(template_set("project"), tmp_path)
    env = {
        "CRONTICK_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none",
        "CRON_SECRET": "3f9b1c0de7a24586b1f0",
        "CRONTICK_MODULES": "background",
        "SMTP_URL": "smtp://127.0.0.1:2525",
    }
    done = crontick(tmp_path, "check", "--offline", env=env)
    assert (done.returncode, done.stdout) == (0, f"- {NO_HEARTBEAT}\nall is well\n"), done.stderr


def test_the_commands_that_it_names_work_in_a_fresh_folder(processes: Processes, fresh: Path, server: str) -> None:
    done = crontick(fresh, "init")
    first, second, third = (line.strip() for line in done.stdout.partition("next:\n")[2].splitlines())
    assert first == "crontick dev"
    dev = develop(processes, fresh, options=())
    dev.told("dev", "in another terminal")
    sourced, _, command = second.partition(" && ")
    assert sourced == ". .crontick/env"
    assert dev.shell(command).strip().isdecimal()
    assert dev.told("mail")["subject"] == "Welcome, Ada"
    assert "all is well" in dev.command("check")
    passes(fresh, *third.removeprefix("python -m ").split(), env={"CRONTICK_TEST_DATABASE_URL": server})
    assert dev.end() == 0


def test_nothing_that_was_there_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "background.py").write_text("theirs")
    done = crontick(tmp_path, "init")
    assert done.returncode == 0
    assert done.stdout.splitlines()[:3] == [
        "wrote crontick.toml",
        "kept background.py",
        "left out test_background.py: it tests a file that was there",
    ]
    assert (tmp_path / "background.py").read_text() == "theirs"
    assert not (tmp_path / "test_background.py").exists()
    again = write(template_set("project"), tmp_path)
    assert (again.written, again.kept) == ((), ("crontick.toml", "background.py"))


@pytest.mark.parametrize(("what", "taken"), [("github", ".github"), ("github", ".github/workflows")])
def test_a_file_where_a_folder_must_be_is_named(tmp_path: Path, what: str, taken: str) -> None:
    (tmp_path / taken).parent.mkdir(exist_ok=True)
    (tmp_path / taken).write_text("theirs")
    done = crontick(tmp_path, "init", what)
    said = "".join(done.stderr.split())
    assert (done.returncode, taken in said and "cannotbewritten" in said, "Traceback" in said) == (1, True, False)
    assert (tmp_path / taken).read_text() == "theirs"


@pytest.mark.parametrize("package", ["missing", "../tmp", "acme.", ""])
def test_a_package_that_is_not_there_is_named(tmp_path: Path, package: str) -> None:
    (tmp_path / "acme").mkdir()
    done = crontick(tmp_path, "init", "--package", package)
    assert done.returncode == 2
    assert f"no package {package}" in " ".join(done.stderr.split())
    assert {path.name for path in tmp_path.iterdir()} == {"acme"}


def test_what_there_is_to_write_is_named(tmp_path: Path) -> None:
    done = crontick(tmp_path, "init", "heroku")
    assert done.returncode == 2
    for name in names():
        assert name in done.stderr


def test_the_workflow_is_written_where_github_looks_for_it(tmp_path: Path) -> None:
    done = write(template_set("github"), tmp_path)
    assert done.kept == ()
    for path in done.written:
        assert (tmp_path / path).read_bytes() == (ROOT / path).read_bytes()
