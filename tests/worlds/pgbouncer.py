"""PgBouncer in transaction mode in front of a server, as a pooler that keeps no session."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from tests.worlds.waiting import listens, until

PROGRAM = shutil.which("pgbouncer", path=os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin"]))
"""None where it is not installed."""

_CONFIGURATION = """
[databases]
* = host={host} port={port} user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {listen}
unix_socket_dir =
auth_type = any
pool_mode = {mode}
default_pool_size = 10
max_client_conn = 500
server_idle_timeout = 5
"""


@contextmanager
def pgbouncer(server: str, *, mode: str = "transaction") -> Iterator[str]:
    """The URL of the pooler, in which any database of the server can be named."""
    assert PROGRAM is not None
    with tempfile.TemporaryDirectory(prefix="pgbouncer-", dir="/tmp") as folder, socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        listen = probe.getsockname()[1]
        probe.close()
        parts = urlsplit(server)
        host = parse_qs(parts.query).get("host", [parts.hostname or "127.0.0.1"])[0]
        file = Path(folder) / "pgbouncer.ini"
        file.write_text(_CONFIGURATION.format(host=host, port=parts.port or 5432, listen=listen, mode=mode))
        Path(folder).chmod(0o755)
        as_nobody = ["-u", "nobody"] if os.geteuid() == 0 else []
        log = Path(folder) / "log"
        with log.open("wb") as output:
            process = subprocess.Popen([PROGRAM, *as_nobody, str(file)], stdout=output, stderr=output)
        try:
            until(lambda: listens(listen) or process.poll() is not None)
            assert process.poll() is None, log.read_text()
            yield f"postgresql://postgres@127.0.0.1:{listen}/postgres"
        finally:
            process.send_signal(signal.SIGTERM)  # at once
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(30)
