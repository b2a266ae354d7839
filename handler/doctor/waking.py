"""Alarms that ticks set: whether they come, and whether anything calls when one is lost."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Final

from crontick.handler.cli.screen import Row
from crontick.handler.doctor.finding import WAKING, Finding
from crontick.jobs.caller import WAKE
from crontick.jobs.outward_sections import WakeSettings

_LATELY: Final = timedelta(days=2)


def waking(wake: WakeSettings | None, calls: Sequence[Row], armed: int) -> Iterator[Finding]:
    """``calls`` as ``read_triggers`` answers them; ``armed``: alarms that ticks set, and whose moment has passed."""
    if wake is None or not calls:
        return
    if all(row["trigger"] == WAKE or row["silent"] > _LATELY for row in calls):
        yield Finding(
            WAKING,
            "nothing but wakes has called a tick for two days, and one that is lost is not set again",
            "let a slow schedule call ticks as well, once an hour or a day",
            wrong=False,
        )
    if armed and not any(row["trigger"] == WAKE for row in calls):
        yield Finding(
            WAKING,
            f"ticks set {armed} alarms whose time is over, and no tick with the trigger wake came",
            "look at the platform's own log: may it call, and does it send the trigger wake",
        )
