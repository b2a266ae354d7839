"""Whether the database takes each ``[[sql_job]]`` as it stands: parsed and typed, and not run."""

from collections.abc import Iterable, Iterator

import psycopg
from psycopg import pq

from crontick.jobs.kinds.parameters import numbered
from crontick.jobs.kinds.sql_job import SqlJob

__all__ = ["unprepared"]

_CONNECT_SECONDS = 10


def unprepared(url: str, jobs: Iterable[SqlJob]) -> Iterator[str]:
    """What the database says against them, a sentence each. Raises ``psycopg.Error`` when it cannot be asked."""
    with psycopg.connect(url, autocommit=True, prepare_threshold=None, connect_timeout=_CONNECT_SECONDS) as conn:
        for job in jobs:
            # Unnamed, so that nothing of it stays on a pooler's connection.
            text, _ = numbered(job.statement, job.parameters)
            answer = conn.pgconn.prepare(b"", text.encode())
            if answer.status != pq.ExecStatus.COMMAND_OK:
                said = answer.error_field(pq.DiagnosticField.MESSAGE_PRIMARY) or b"the connection was lost"
                yield f"sql_job {job.name} cannot run: {said.decode(errors='replace')}"
