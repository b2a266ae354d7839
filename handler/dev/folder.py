"""``.crontick/`` in the project: what one run leaves for the next, and what only one run at a time may have."""

import fcntl
import os
import secrets
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final, TextIO

from crontick.handler.dev.refused import DevRefused
from crontick.sql.embedded import open_to_all

NAME: Final = ".crontick"


@dataclass(frozen=True, slots=True)
class Folder:
    """Held by one ``crontick dev``; ``token`` is the secret of this run."""

    path: Path
    token: str

    @property
    def header_path(self) -> Path:
        """The request header with the token, as ``curl -H @FILE`` reads it: on a command line everybody could."""
        return self.path / "token"

    @property
    def admin(self) -> str:
        """What logs in to the page of this run."""
        return sha256(f"admin:{self.token}".encode()).hexdigest()

    @property
    def admin_path(self) -> Path:
        """Where it can be read."""
        return self.path / "admin"

    @property
    def shell_path(self) -> Path:
        """What another terminal sources to use the command line on the same database."""
        return self.path / "env"

    @property
    def data_path(self) -> Path:
        """Where the embedded PostgreSQL keeps its data.

        Root's server runs as another user, who may not be able to reach the project.
        """
        if os.geteuid() != 0 or open_to_all(self.path):
            return self.path / "postgres"
        cache = Path(os.environ.get("XDG_CACHE_HOME") or "/var/cache")
        return cache / "crontick" / sha256(os.fsencode(self.path)).hexdigest()[:16] / "postgres"

    def write_shell(self, variables: Mapping[str, str]) -> None:
        """Leave the variables for other terminals."""
        lines = [f"export {name}={shlex.quote(value)}\n" for name, value in variables.items()]
        _write_private(self.shell_path, "".join(lines))


@contextmanager
def held(project: Path) -> Iterator[Folder]:
    """The project's folder, made when it is missing; raises ``DevRefused`` while another run has it."""
    path = project.absolute() / NAME
    with _made(path) as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            raise DevRefused(
                f"crontick dev runs in this folder already (process {lock.read().strip() or 'unknown'}):"
                " use that one, or end it first"
            ) from None
        lock.truncate(0)
        lock.write(f"{os.getpid()}\n")
        lock.flush()
        folder = Folder(path, secrets.token_hex(32))
        _write_private(folder.header_path, f"Authorization: Bearer {folder.token}\n")
        _write_private(folder.admin_path, f"{folder.admin}\n")
        try:
            yield folder
        finally:
            for left in (folder.header_path, folder.admin_path, folder.shell_path):
                with suppress(FileNotFoundError):
                    left.unlink()


def _made(path: Path) -> TextIO:
    """The folder's open lock."""
    try:
        path.mkdir(exist_ok=True)
        path.chmod(0o711 if os.geteuid() == 0 else 0o700)
        (path / ".gitignore").write_text("*\n")
        return (path / "lock").open("a+")
    except OSError as error:
        raise DevRefused(
            f"{error.filename or path} cannot be written ({error.strerror}): crontick dev keeps its files in the folder"
            f" {path}, move away what is there, or work where you may write"
        ) from None


def _write_private(path: Path, text: str) -> None:
    """Made anew: who had the old file open does not read the new one, and nobody finds none, or half of one."""
    fresh = path.with_name(f"{path.name}.new")
    with suppress(FileNotFoundError):
        fresh.unlink()
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
    fresh.replace(path)
