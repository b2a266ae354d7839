"""Whether the database computes local times as crontick does: each has zone data of its own."""

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from crontick.handler.cli.database import Connection, ask
from crontick.handler.cli.screen import Row
from crontick.handler.doctor.finding import ZONE_DATA, Finding
from crontick.jobs.deployment import Deployment
from crontick.jobs.zones import offset_at, zone_data_version, zone_names

_LITERAL: Final = r"'([A-Za-z][A-Za-z0-9_+/-]*)'"
_EVERY: Final = timedelta(days=15)
_COMPARED: Final = 49
"""Moments, over two years: every rule of a zone that changes its clock has begun by then."""


def zones(conn: Connection, deployment: Deployment, now: datetime) -> Iterator[Finding]:
    """For the zones of schedules, and those that a query of the configuration has as a literal."""
    used = used_zones(deployment)
    if used:
        moments = [now + nth * _EVERY for nth in range(_COMPARED)]
        yield from differing(ask(conn, "compare_zone_offsets", {"zones": used, "moments": moments}))


def used_zones(deployment: Deployment) -> list[str]:
    """Their names, sorted."""
    config = deployment.config
    queries = [reminder.query or "" for reminder in deployment.reminders]
    queries += [report.query for report in config.report] + [job.statement for job in config.sql_job]
    named = {name for query in queries for name in re.findall(_LITERAL, query)} & zone_names()
    return sorted(named.union(schedule.tz for schedule in deployment.schedules) & zone_names())


def differing(rows: Sequence[Row]) -> Iterator[Finding]:
    """One for each zone; ``rows`` as ``compare_zone_offsets`` answers them."""
    told: set[str] = set()
    for row in rows:
        name, at, theirs = row["name"], row["at"].astimezone(UTC), row["offset_seconds"]
        ours = int(offset_at(name, at).total_seconds())
        if theirs == ours or name in told:
            continue
        told.add(name)
        says = "does not know it" if theirs is None else f"says {_ahead(theirs)}"
        yield Finding(
            ZONE_DATA,
            f"the database's zone data differ for {name}: at {at:%Y-%m-%d %H:%M} UTC it {says}, and zone data"
            f" {zone_data_version()}, by which schedules fire, say {_ahead(ours)}: `at time zone` in a query of a"
            " reminder or report, or of yours, is off by the difference",
            "update the server's zone data (the package tzdata, or a newer minor release of PostgreSQL); until then"
            " compute local times in your code",
            wrong=False,
        )


def _ahead(seconds: int) -> str:
    hours, minutes = divmod(abs(seconds) // 60, 60)
    return f"UTC{'-' if seconds < 0 else '+'}{hours:02}:{minutes:02}"
