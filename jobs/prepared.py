"""Whether the database takes each ``[[sql_job]]`` and ``[[report]]`` as it stands: parsed and typed, and not run."""

from collections.abc import Iterable, Iterator

import psycopg
from psycopg import pq

from crontick.jobs.kinds.parameters import numbered
from crontick.jobs.kinds.report_query import rows_statement
from crontick.jobs.kinds.settings import ReportSettings
from crontick.jobs.kinds.sql_job import SqlJob

__all__ = ["unprepared"]

_CONNECT_SECONDS = 10


def unprepared(url: str, jobs: Iterable[SqlJob], reports: Iterable[ReportSettings]) -> Iterator[str]:
    """What the database says against them, a sentence each. Raises ``psycopg.Error`` when it cannot be asked."""
    with psycopg.connect(url, autocommit=True, prepare_threshold=None, connect_timeout=_CONNECT_SECONDS) as conn:
        for what, text in _statements(jobs, reports):
            # Unnamed, so that nothing of it stays on a pooler's connection.
            answer = conn.pgconn.prepare(b"", text.encode())
            if answer.status != pq.ExecStatus.COMMAND_OK:
                said = answer.error_field(pq.DiagnosticField.MESSAGE_PRIMARY) or b"the connection was lost"
                yield f"{what} cannot run: {said.decode(errors='replace')}"


def _statements(jobs: Iterable[SqlJob], reports: Iterable[ReportSettings]) -> Iterator[tuple[str, str]]:
    for job in jobs:
        yield f"sql_job {job.name}", numbered(job.statement, job.parameters)[0]
    for report in reports:
        yield f"report {report.name}", rows_statement(report)[0]
