"""Whether the database takes each ``[[sql_job]]`` and ``[[report]]`` as it stands: parsed and typed, and not run."""

from collections.abc import Iterator

import psycopg
from psycopg import pq

from crontick.jobs.deployment import Deployment
from crontick.jobs.kinds.parameters import numbered
from crontick.jobs.kinds.report_query import rows_statement
from crontick.jobs.sections import Config
from crontick.jobs.whereabouts import whereabouts

__all__ = ["unprepared"]

_CONNECT_SECONDS = 10


def unprepared(url: str, deployment: Deployment) -> Iterator[str]:
    """What the database says against them, a sentence each. Raises ``psycopg.Error`` when it cannot be asked."""
    with psycopg.connect(url, autocommit=True, prepare_threshold=None, connect_timeout=_CONNECT_SECONDS) as conn:
        for section, name, field, text in _statements(deployment.config):
            # Unnamed, so that nothing of it stays on a pooler's connection.
            answer = conn.pgconn.prepare(b"", text.encode())
            if answer.status != pq.ExecStatus.COMMAND_OK:
                said = answer.error_field(pq.DiagnosticField.MESSAGE_PRIMARY) or b"the connection was lost"
                where = whereabouts(deployment, section, name, field) or section
                yield f"{where}: {name}: {said.decode(errors='replace')}"


def _statements(config: Config) -> Iterator[tuple[str, str, str, str]]:
    for job in config.sql_job:
        yield "sql_job", job.name, "statement", numbered(job.statement, job.parameters)[0]
    for report in config.report:
        yield "report", report.name, "query", rows_statement(report)[0]
