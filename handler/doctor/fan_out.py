"""Ticks that ticks asked for: whether they came, and whether the hour has any left."""

from collections.abc import Iterator

from crontick.handler.cli.screen import Row
from crontick.handler.doctor.finding import FAN_OUT, Finding
from crontick.jobs.fan_out_way import FanOutError, tick_url
from crontick.jobs.outward_sections import FanOutSettings
from crontick.jobs.settings import Settings


def fan_out(settings: Settings, section: FanOutSettings | None, told: Row) -> Iterator[Finding]:
    """``told`` as ``read_fan_out`` answers it."""
    if section is None:
        return
    if not told["asked"]:
        try:
            tick_url(settings, section)
        except FanOutError as error:
            what, _, mend = str(error).partition(": ")
            yield Finding(FAN_OUT, f"[fan_out]: {what}, and no tick was asked for yet", mend, wrong=False)
    if told["came"] < told["asked"]:
        yield Finding(
            FAN_OUT,
            f"of {told['asked']} ticks that were asked for in the last day {told['came']} came",
            "the ticks' `warnings` and the log say why; on Lambda look at the function's throttles and its role",
        )
    if told["busy"]:
        yield Finding(
            FAN_OUT,
            f"of {told['came']} ticks that were asked for in the last day {told['busy']} found no room",
            "other triggers took it: raise CRONTICK_MAX_PARALLEL_TICKS, as far as the database has connections",
            wrong=False,
        )
    if told["asked_in_an_hour"] >= section.max_per_hour:
        yield Finding(
            FAN_OUT,
            f"the {section.max_per_hour} ticks that may be asked for in an hour are used up",
            "raise CRONTICK_LIMIT, so that each takes more, call ticks more often, or raise [fan_out] max_per_hour",
            wrong=False,
        )
