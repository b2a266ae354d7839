"""What can be found wrong with schedules before one of their slots comes."""

from collections.abc import Iterator

from crontick.jobs import toml_lines
from crontick.jobs.deployment import Deployment
from crontick.jobs.payload import PayloadError
from crontick.jobs.schedules import Schedule
from crontick.jobs.slots import CronError, parse
from crontick.jobs.zones import zone

__all__ = ["schedule_faults"]


def schedule_faults(deployment: Deployment) -> Iterator[str]:
    """A sentence for each expression, zone or payload that cannot be, with the file's line where one declares it."""
    for schedule in deployment.schedules:
        for field, said in _faults(deployment, schedule):
            yield f"{_where(deployment, schedule, field)}: {said}"


def _faults(deployment: Deployment, schedule: Schedule) -> Iterator[tuple[str, str]]:
    try:
        zone(schedule.tz)
    except ValueError as error:
        yield "tz", str(error)
    try:
        parse(schedule.cron, "UTC")
    except CronError as error:
        yield "cron", str(error)
    try:
        deployment.kinds[schedule.kind].payload.decode(schedule.payload)
    except PayloadError as error:
        yield "payload", f"{error} (kind {schedule.kind})"


def _where(deployment: Deployment, schedule: Schedule, field: str) -> str:
    path = deployment.settings.config_path
    for nth, section in enumerate(deployment.config.schedule):
        if path is not None and section.name == schedule.name:
            line = toml_lines.line_of(("schedule", nth, field), toml_lines.lines(path.read_text("utf-8")))
            return f"{path.name}:{line}: schedule.{field}"
    return f"schedule {schedule.name} of kind {schedule.kind}"
