"""A PostgreSQL of a test's own, which can be stopped and started again."""

import asyncio
import shutil
import tempfile
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import psycopg

from crontick.handler.loopback import free_port
from crontick.sql.embedded import FAST, postgres
from crontick.sql.migrate import migrate


class Server:
    """A PostgreSQL that can be stopped and started again at the same address, its data kept."""

    def __init__(self, folder: Path, port: int) -> None:
        self._folder = folder
        self._port = port
        self._running = ExitStack()
        self._thread = ThreadPoolExecutor(1)  # the server ends with the thread that started it
        self.url = f"postgresql://postgres@127.0.0.1:{port}/postgres"

    async def restart(self) -> None:
        await asyncio.wrap_future(self.stop())
        await asyncio.wrap_future(self.start())

    def start(self) -> Future[Any]:
        server = postgres(self._folder, port=self._port, settings=FAST)
        return self._thread.submit(self._running.enter_context, server)

    def stop(self) -> Future[Any]:
        return self._thread.submit(self._running.close)


@contextmanager
def own_server() -> Iterator[Server]:
    """Migrated, with the table in which the functions of the faults write that they ran."""
    folder = Path(tempfile.mkdtemp(prefix="restarted-", dir="/tmp"))
    folder.chmod(0o755)
    server = Server(folder / "data", free_port())
    server.start().result(60)
    try:
        migrate(server.url, environment="test", test_clock=True)
        with psycopg.connect(server.url, autocommit=True) as conn:
            conn.execute("create table ran (job bigint not null, attempt int not null)")
        yield server
    finally:
        server.stop().result(60)
        shutil.rmtree(folder, ignore_errors=True)
