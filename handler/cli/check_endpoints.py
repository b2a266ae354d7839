"""Endpoints whose URL the outbound filter refuses as it stands there, whatever a name in it resolves to."""

from collections.abc import Iterator

import psycopg

from crontick.handler.cli.database import CONNECT_SECONDS
from crontick.jobs.deployment import Deployment
from crontick.sql import query

ENDPOINTS_AT_MOST = 1000


def refused(deployment: Deployment, url: str | None) -> Iterator[str]:
    """A sentence for each of the file's, and of those in the database ``url`` that its role may read."""
    from crontick.jobs.kinds.verdict import refusal  # which imports the HTTP client

    found = {endpoint.name: endpoint.url for endpoint in deployment.config.webhook_endpoint}
    for name, target in ({} if url is None else _stored(url)).items():
        found.setdefault(name, target)
    for name, target in found.items():
        if reason := refusal(target, deployment.config.http):
            yield f"endpoint {name} gets nothing: {reason}"


def _stored(url: str) -> dict[str, str]:
    with psycopg.connect(url, autocommit=True, prepare_threshold=None, connect_timeout=CONNECT_SECONDS) as conn:
        try:
            rows = conn.execute(query("list_endpoint_urls").text.encode(), {"at_most": ENDPOINTS_AT_MOST}).fetchall()
        except psycopg.errors.InsufficientPrivilege:
            return {}
    return {name: target for name, target, *_ in rows}
