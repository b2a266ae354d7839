"""What a tick says of itself: in its first statement, and, once for each deployment, which kinds it knows."""

import platform

from crontick.jobs.bounds import Bounds
from crontick.jobs.caller import Caller
from crontick.jobs.deployment import Deployment
from crontick.jobs.request import TickRequest
from crontick.sql import SCHEMA, query
from crontick.sql.wire import Statement, statement

__all__ = ["knowing_kinds", "opening_tick", "what_it_knows"]


def opening_tick(
    opening: int, deployment: Deployment, bounds: Bounds, request: TickRequest, caller: Caller
) -> Statement:
    """The tick's own row, under the number by which a repeat is recognised."""
    settings = deployment.settings
    return statement(
        query("open_tick"),
        {
            "opening": opening,
            "schema": SCHEMA,
            "environment": settings.environment,
            "version": deployment.version,
            "deployment": deployment.hash,
            "budget_seconds": bounds.left,
            "lease_seconds": bounds.lease_left,
            "max_parallel": settings.max_parallel_ticks,
            "paused": settings.paused,
            "known": deployment.known,
            "trigger": caller.trigger,
            "scheduled_for": request.scheduled_for,
            "token": caller.token_fingerprint,
            "host": platform.node()[:128],
            "host_request_id": caller.host_request_id,
        },
    )


def knowing_kinds(deployment: Deployment) -> Statement:
    """Makes the kinds of a deployment known that the database had not met."""
    return statement(query("sync_deployment"), what_it_knows(deployment))


def what_it_knows(deployment: Deployment) -> dict[str, str | bool]:
    """The parameters of ``sync_deployment``."""
    return {
        "hash": deployment.hash,
        "version": deployment.version,
        "kinds": deployment.kinds_json(),
        "strict": deployment.config.strict_kinds,
    }
