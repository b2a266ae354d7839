"""What deploy/lambda/build.py makes of a project: a zip for Lambda's machine, and one for this that answers events."""

import fcntl
import os
import re
import struct
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Iterator
from importlib.util import MAGIC_NUMBER
from pathlib import Path
from typing import Final

import psycopg
import pytest

from tests.on_lambda import events
from tests.on_lambda.events import TOKEN
from tests.worlds import runtime_api as apis
from tests.worlds.process import Processes
from tests.worlds.runtime_api import RuntimeApi

ROOT: Final = Path(__file__).parents[2]
BUILD: Final = ROOT / "deploy/lambda/build.py"
LOCK: Final = ROOT / "deploy/lambda/requirements.txt"
KINDS: Final = """
from pathlib import Path
from typing import Any

from crontick.jobs import kind


@kind("greet")
async def greet(payload: dict[str, Any]) -> str:
    return str(Path(__file__).parent.parent)
"""
WITH_THE_SETUPTOOLS_HERE: Final = {"PIP_NO_BUILD_ISOLATION": "0"}
"""pip reads 0 as the option given; it spares the test the fetching of what builds crontick's wheel."""
UNCHECKED_HASH: Final = 0b01
RUNTIME: Final = """
import os, runpy, sys
os.chdir(sys.argv.pop(1))
runpy.run_module("awslambdaric", run_name="__main__", alter_sys=True)
"""
RUNTIME_CLIENT: Final = ("awslambdaric", "runtime_client*", "simplejson", "snapshot_restore_py*")
"""What Lambda has beside the function."""


class Zips:
    """Made once for all workers of a session, whoever needs one first."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def built(self, name: str, *arguments: str) -> Path:
        """The zip that the script makes of a project with a kind, a configuration, and what must not be packed."""
        with (self._folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            made = self._folder / f"{name}.zip"
            if not made.exists():
                project = self._project(self._folder / name)
                command = [sys.executable, str(BUILD), *arguments, "--output", str(made), "acme", "crontick.toml"]
                environ = {**os.environ, **WITH_THE_SETUPTOOLS_HERE}
                done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=project, env=environ)
                assert done.returncode == 0, done.stdout + done.stderr
                (self._folder / f"{name}.said").write_text(done.stdout)
        return made

    def said(self, name: str) -> str:
        return (self._folder / f"{name}.said").read_text()

    def _project(self, project: Path) -> Path:
        (project / "acme/__pycache__").mkdir(parents=True)
        for name in ("acme/__init__.py", "acme/.env", "acme/__pycache__/old.pyc", "notes.txt"):
            (project / name).touch()
        (project / "acme/background.py").write_text(KINDS)
        (project / "crontick.toml").write_text("strict_kinds = true\n")
        return project


@pytest.fixture(scope="session")
def zips(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Zips:
    base = tmp_path_factory.getbasetemp()
    folder = (base if worker_id == "master" else base.parent) / "lambda-zips"
    folder.mkdir(exist_ok=True)
    return Zips(folder)


@pytest.fixture
def api() -> Iterator[RuntimeApi]:
    with apis.runtime_api() as made:
        yield made


def pinned(lock: Path = LOCK) -> dict[str, str]:
    return dict(re.findall(r"^([a-z0-9-]+)==(\S+)", lock.read_text(), re.MULTILINE))


def test_lambda_gets_the_versions_that_everything_is_tested_with() -> None:
    assert set(pinned()) >= {"psycopg-binary", "msgspec", "starlette"}
    assert pinned().items() <= pinned(ROOT / "requirements.lock").items()


def one_pin(lock: Path) -> None:
    """The smallest lock file with which pip has something to do."""
    pins = re.split(r"\n(?=\S)", LOCK.read_text())
    lock.write_text(next(pin for pin in pins if pin.startswith("cronsim")))


def test_the_zip_for_lambda_has_wheels_of_its_machine_and_nothing_else(zips: Zips) -> None:
    with zipfile.ZipFile(zips.built("arm64", "--without-bytecode")) as made:
        names = made.namelist()
        wheels = {name: made.read(name).decode() for name in names if name.endswith(".dist-info/WHEEL")}
        assert made.read("crontick.toml") == b"strict_kinds = true\n"
        assert made.testzip() is None
        assert {(entry.date_time, entry.external_attr >> 16) for entry in made.infolist()} == {
            ((2020, 1, 1, 0, 0, 0), 0o100644)
        }
    tags = {tag for told in wheels.values() for tag in re.findall(r"^Tag: (\S+)", told, re.MULTILINE)}
    assert {tag for tag in tags if tag.endswith("-any")} <= {"py3-none-any", "py2-none-any"}
    native = {tag for tag in tags if not tag.endswith("-any")}
    assert native
    assert all(re.fullmatch(r"cp313-cp313-manylinux\w+_aarch64", tag) for tag in native)
    libraries = [name for name in names if name.endswith(".so")]
    assert libraries
    assert all("cpython-313-aarch64-linux-gnu" in name for name in libraries)
    packed = {name.partition(".dist-info/")[0].lower().replace("_", "-") for name in wheels}
    crontick = {name for name in packed if name.startswith("crontick-")}
    assert packed - crontick == {f"{name}-{version}" for name, version in pinned().items()}
    assert len(crontick) == 1
    assert not [name for name in names if re.search(r"(^|/)(tests?|pip|setuptools|boto\w*|__pycache__)/", name)]
    assert {name for name in names if name.startswith("acme")} == {"acme/__init__.py", "acme/background.py"}
    assert "notes.txt" not in names
    assert re.search(r"arm64\.zip: \d+\.\d MB, unpacked \d+\.\d MB", zips.said("arm64"))
    assert "its cold import is not measured" in zips.said("arm64")
    assert zips.built("arm64").stat().st_size < 25_000_000


def test_a_cold_start_of_the_zip_compiles_nothing(zips: Zips) -> None:
    with zipfile.ZipFile(zips.built("here", "--platform", "here")) as made:
        sources = {name for name in made.namelist() if name.endswith(".py")}
        compiled = {name: made.read(name)[:8] for name in made.namelist() if name.endswith(".pyc")}
    tag = sys.implementation.cache_tag
    assert {re.sub(r"__pycache__/(.+)\.[^.]+\.pyc$", r"\1.py", name) for name in compiled} == sources
    assert all(f".{tag}." in name for name in compiled)
    assert {struct.unpack("<4sI", head) for head in compiled.values()} == {(MAGIC_NUMBER, UNCHECKED_HASH)}
    assert re.search(r"import of crontick.handler.aws, cold: \d+ ms", zips.said("here"))


def test_the_zip_alone_migrates_ticks_and_answers_events(
    zips: Zips, api: RuntimeApi, raw_database: str, processes: Processes, tmp_path: Path
) -> None:
    task, client = tmp_path / "task", tmp_path / "client"
    with zipfile.ZipFile(zips.built("here", "--platform", "here")) as made:
        made.extractall(task)
    client.mkdir()
    for pattern in RUNTIME_CLIENT:
        for found in Path(sysconfig.get_path("platlib")).glob(pattern):
            (client / found.name).symlink_to(found)
    environ = {
        "AWS_LAMBDA_RUNTIME_API": api.address,
        "AWS_LAMBDA_FUNCTION_NAME": "crontick",
        "CRONTICK_DATABASE_URL": raw_database,
        "CRONTICK_MIGRATE_URL": raw_database,
        "CRONTICK_ENVIRONMENT": "test",
        "CRONTICK_MODULES": "acme.background",
        "CRON_SECRET": TOKEN,
        "PYTHONPATH": f"{task}:{client}",
    }
    processes.run("-S", "-c", RUNTIME, str(task), "crontick.handler.aws.handler", env=environ)
    assert "crontick migrate" in api.invoke({}).error["errorMessage"]
    assert api.invoke({"crontick": "migrate"}).answer["ran"]
    with psycopg.connect(raw_database, autocommit=True) as conn:
        for event in ({"action": "tick", "scheduled_time": events.AT, "attempt": "1"}, events.eventbridge(), {}):
            conn.execute("select crontick.enqueue('greet')")
            assert api.invoke(event).answer["succeeded"] == 1
        for event in (events.gateway2(), events.gateway1(), events.load_balancer()):
            conn.execute("select crontick.enqueue('greet')")
            assert api.invoke(event).answer["statusCode"] == 200
        assert api.invoke(events.sqs("{}", "no JSON")).answer == {"batchItemFailures": []}
        assert api.invoke({"key1": "value1"}).error["errorType"] == "UnknownEvent"
        row = conn.execute("select count(*), min(result #>> '{}') from crontick.jobs where status = 'succeeded'")
        assert row.fetchone() == (6, str(task))
    assert api.init_errors == []


def as_pip_leaves_it(told: Path) -> None:
    """With bytecode in its record, and where on this machine it came from."""
    (told / "direct_url.json").write_text("{}")
    with (told / "RECORD").open("a") as record:
        record.write(f"crontick/handler/__pycache__/aws.{sys.implementation.cache_tag}.pyc,,\n")
        record.write(f"{told.name}/direct_url.json,,\n")


def test_in_a_project_the_crontick_that_is_installed_is_packed(zips: Zips, tmp_path: Path) -> None:
    installed, script = tmp_path / "installed", tmp_path / "project/deploy/lambda/build.py"
    with zipfile.ZipFile(zips.built("here", "--platform", "here")) as made:
        made.extractall(installed)
    as_pip_leaves_it(next(installed.glob("crontick-*.dist-info")))
    script.parent.mkdir(parents=True)
    script.write_bytes(BUILD.read_bytes())
    one_pin(script.with_name("requirements.txt"))
    asked = [sys.executable, str(script), "--platform", "here", "--without-bytecode"]
    project = tmp_path / "project"
    environ = {**os.environ, "PYTHONPATH": str(installed)}
    done = subprocess.run(asked, check=False, capture_output=True, text=True, cwd=project, env=environ)
    assert done.returncode == 0, done.stdout + done.stderr
    with zipfile.ZipFile(project / "function.zip") as made, zipfile.ZipFile(zips.built("here")) as whole:
        packed = {name for name in made.namelist() if re.match("crontick[/-]", name)}
        assert packed == {name for name in whole.namelist() if re.match("crontick[/-].*[^c]$", name)}


def test_a_zip_that_is_too_large_is_refused_and_its_largest_part_named(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "crontick.whl", "w") as wheel:
        wheel.writestr("crontick/__init__.py", "")
    (tmp_path / "model.bin").write_bytes(os.urandom(1_100_000))
    one_pin(tmp_path / "lock.txt")
    asked = [
        "--requirements",
        "lock.txt",
        "--crontick",
        "crontick.whl",
        "--without-bytecode",
        "--most-mb",
        "1",
        "model.bin",
    ]
    done = subprocess.run(
        [sys.executable, str(BUILD), *asked], check=False, capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 1
    assert "that is 1 MB or more" in done.stderr
    assert "largest: model.bin 1.1 MB" in done.stdout
    assert not (tmp_path / "function.zip").exists()


def test_what_cannot_be_packed_is_told_and_leaves_no_zip(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "crontick.whl", "w") as wheel:
        wheel.writestr("crontick/__init__.py", "")
    (tmp_path / "lock.txt").write_text(f"cronsim=={pinned()['cronsim']}\n")
    told = {
        "--crontick .": "is no checkout of crontick: name one, or a wheel, with --crontick",
        "--crontick crontick.whl --requirements lock.txt": "--require-hashes mode",
    }
    for asked, sentence in told.items():
        command = [sys.executable, str(BUILD), "--without-bytecode", *asked.split()]
        done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == 1
        assert sentence in done.stderr
    assert not (tmp_path / "function.zip").exists()
