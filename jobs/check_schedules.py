"""What can be found wrong with schedules before one of their slots comes."""

from collections.abc import Collection, Iterator

from crontick.jobs.by_name import missing_name
from crontick.jobs.deployment import Deployment
from crontick.jobs.payload import PayloadError
from crontick.jobs.schedules import Schedule
from crontick.jobs.slots import CronError, parse
from crontick.jobs.whereabouts import whereabouts
from crontick.jobs.zones import zone

__all__ = ["expression_faults", "schedule_faults"]


def schedule_faults(deployment: Deployment, endpoints: Collection[str] | None = None) -> Iterator[str]:
    """A sentence for each expression, zone or payload that cannot be, with the file's line where one declares it.

    ``endpoints`` are those that the database has; None: it was not asked.
    """
    for schedule in deployment.schedules:
        for field, said in _faults(deployment, schedule, endpoints):
            where = whereabouts(deployment, "schedule", schedule.name, field)
            yield f"{where or f'schedule {schedule.name} of kind {schedule.kind}'}: {said}"


def expression_faults(cron: object, tz: object) -> Iterator[tuple[str, str]]:
    """What is wrong with a schedule's expression and zone, by field; nothing of what is no text."""
    if isinstance(tz, str):
        try:
            zone(tz)
        except ValueError as error:
            yield "tz", str(error)
    if isinstance(cron, str):
        try:
            parse(cron, "UTC")
        except CronError as error:
            yield "cron", str(error)


def _faults(deployment: Deployment, schedule: Schedule, endpoints: Collection[str] | None) -> Iterator[tuple[str, str]]:
    yield from expression_faults(schedule.cron, schedule.tz)
    try:
        deployment.kinds[schedule.kind].payload.decode(schedule.payload)
    except PayloadError as error:
        yield "payload", f"{error} (kind {schedule.kind})"
    if missing := missing_name(deployment.config, schedule.kind, schedule.payload, endpoints):
        yield "payload", missing
