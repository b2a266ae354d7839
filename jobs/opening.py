"""What a tick says of itself: in its first statement, and, once for each deployment, what that declares."""

import platform
from datetime import datetime

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


def knowing_kinds(deployment: Deployment, now: datetime) -> Statement:
    """Makes the kinds of a deployment known that the database had not met, and puts its schedules in force."""
    return statement(query("sync_deployment"), what_it_knows(deployment, now))


def what_it_knows(deployment: Deployment, now: datetime) -> dict[str, str | bool | float | list[str] | None]:
    """The parameters of ``sync_deployment``; ``now`` is the database's, from which the first slots are computed."""
    schedules, digest = "[]", ""
    if deployment.schedules:
        from crontick.jobs.fire import digest_of, with_next_slot

        schedules, digest = with_next_slot(deployment.schedules, now), digest_of(deployment.schedules)
    expected = deployment.config.alerts.expected_every
    return {
        "schedules": schedules,
        "digest": digest,
        "hash": deployment.hash,
        "version": deployment.version,
        "kinds": deployment.kinds_json(),
        "strict": deployment.config.strict_kinds,
        "expected_seconds": None if expected is None else expected.total_seconds(),
        "endpoints": [endpoint.name for endpoint in deployment.config.webhook_endpoint],
        "limits": deployment.limits_json(),
        "queue_seats": deployment.queue_seats_json({}),
    }
