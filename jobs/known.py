"""Makes a deployment's kinds known before its first tick: an enqueue from any language finds queue and priority."""

import psycopg

from crontick.jobs.deployment import Deployment
from crontick.jobs.opening import what_it_knows
from crontick.sql import query

__all__ = ["make_kinds_known"]


def make_kinds_known(deployment: Deployment, url: str) -> bool:
    """Write them to the database at ``url``, as the first tick would, and put the deployment's schedules in force.

    These are then in force even where an earlier deployment declared the same, which a tick takes for a roll-back.
    False where they are not, for another transaction holds one of them.
    """
    with psycopg.connect(url, autocommit=True, prepare_threshold=None) as conn:
        [(now, _)] = conn.execute(query("read_clock").text.encode()).fetchall()
        [(in_force,)] = conn.execute(query("sync_deployment").text.encode(), what_it_knows(deployment, now)).fetchall()
        return bool(in_force)
