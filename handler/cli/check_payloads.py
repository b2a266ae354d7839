"""Whether schedules can fire, and whether what reminders ask and payloads name is there."""

import asyncio
from collections.abc import Iterator

import psycopg

from crontick.handler.cli.reminders import CONNECT_SECONDS, previewed
from crontick.jobs.by_name import missing_name
from crontick.jobs.check_schedules import schedule_faults
from crontick.jobs.deployment import Deployment
from crontick.jobs.whereabouts import whereabouts
from crontick.sql import query

__all__ = ["misnamed"]

_ENDPOINTS_AT_MOST = 100_000


def misnamed(deployment: Deployment, url: str | None) -> Iterator[str]:
    """A sentence for each fault, with the file's line where there is one.

    Without ``url`` no database is asked: for no reminder's items, and for no endpoint. A generator is somebody's code,
    and is left to ``crontick reminders preview``.
    """
    endpoints = None if url is None else _endpoints(url)
    yield from schedule_faults(deployment, endpoints)
    asked = {reminder.name: reminder for reminder in deployment.reminders if reminder.query is not None}
    if url is None or not asked:
        return
    found, failed = asyncio.run(previewed(url, list(asked.values()), deployment.kinds))
    told = {(name, said) for name, said in failed.items()}
    for item in found:
        name, payload = str(item["reminder"]), str(item["payload"])
        if missing := missing_name(deployment.config, asked[name].kind, payload, endpoints):
            told.add((name, missing))
    for name, said in sorted(told):
        yield f"{whereabouts(deployment, 'reminder', name, 'query') or f'reminder {name}'}: {said}"


def _endpoints(url: str) -> list[str]:
    """Those of crontick.set_endpoint."""
    with psycopg.connect(url, autocommit=True, prepare_threshold=None, connect_timeout=int(CONNECT_SECONDS)) as conn:
        rows = conn.execute(query("list_endpoint_names").text.encode(), {"at_most": _ENDPOINTS_AT_MOST})
        return [str(row[0]) for row in rows]
