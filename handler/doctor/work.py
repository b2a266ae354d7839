"""What waits for code or for a slot: kinds that nobody knows, schedules that cannot fire, old zone data."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Final

from crontick.handler.cli.screen import Row
from crontick.handler.doctor.finding import SCHEDULES, UNKNOWN_KINDS, ZONE_DATA, Finding
from crontick.jobs.check_schedules import schedule_faults
from crontick.jobs.deployment import Deployment
from crontick.jobs.fit import suggestion

HELD_FOR_KIND: Final = "kind"


def unknown_kinds(overview: Sequence[Row], known: Iterable[str]) -> Iterator[Finding]:
    """``overview`` as ``read_overview`` answers it."""
    names = list(known)
    counted: dict[str, int] = {}
    for row in overview:
        if row["held_by"] == HELD_FOR_KIND:
            counted[row["kind"]] = counted.get(row["kind"], 0) + row["jobs"]
    for kind, jobs in sorted(counted.items()):
        here = (
            "; this deployment knows it, and its next tick lets them in" if kind in names else suggestion(kind, names)
        )
        yield Finding(
            UNKNOWN_KINDS,
            f"jobs of kind {kind} that no deployment knew: {jobs}{here}",
            f"deploy code that has it, or `crontick jobs --kind {kind}` and `crontick cancel`",
            wrong=kind not in names,
        )


def schedules(deployment: Deployment | None, kept: Sequence[Row]) -> Iterator[Finding]:
    """What keeps them from their slots: as declared here, and as ``list_kept_schedules`` answers."""
    for fault in schedule_faults(deployment) if deployment is not None else ():
        yield Finding(SCHEDULES, fault, "write another one; `crontick schedules preview` shows when it would fire")
    for row in kept:
        yield Finding(SCHEDULES, f"schedule {row['name']}: {row['why']}", "`crontick schedules list`")


def zone_data(version: str, now: datetime) -> Iterator[Finding]:
    """``version`` such as 2026b: the year of its release, and which one of that year."""
    old = now.year - int(version[:4]) > 1
    yield Finding(
        ZONE_DATA,
        f"schedules are computed with zone data {version}",
        "upgrade tzdata in what you deploy" if old else None,
        wrong=old,
    )
