"""Makes a deployment's kinds known before its first tick: an enqueue from any language finds queue and priority."""

import psycopg

from crontick.jobs.deployment import Deployment
from crontick.jobs.opening import what_it_knows
from crontick.sql import query

__all__ = ["make_kinds_known"]


def make_kinds_known(deployment: Deployment, url: str) -> None:
    """Write them to the database at ``url``, as the first tick would, and put the deployment's schedules in force."""
    with psycopg.connect(url, autocommit=True, prepare_threshold=None) as conn:
        [(now, _)] = conn.execute(query("read_clock").text.encode()).fetchall()
        conn.execute(query("sync_deployment").text.encode(), what_it_knows(deployment, now))
