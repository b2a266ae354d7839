"""Whoever knows of something that will be due sets the alarm for it, and harms nothing when that fails."""

import asyncio
import os
import time
from datetime import datetime, timedelta
from typing import Final

from crontick.jobs.in_thread import in_thread
from crontick.jobs.outward_sections import WakeSettings
from crontick.jobs.tick_secrets import TickSecrets
from crontick.jobs.wake.alarm import Alarm, NotArmed, alarm_for

__all__ = ["arm", "is_armed", "left_alone"]

_FURTHEST_AT_URL: Final = timedelta(days=7)
"""QStash's free plan takes no later one, Cloud Tasks none after 30 days; the safety schedule comes before."""
_LEFT_ALONE_SECONDS: Final = 10.0
_ARMED: Final[dict[str, datetime]] = {}
"""The earliest alarm that this process knows to be set, by whom it was asked of."""
_FAILED: Final[dict[str, float]] = {}


async def arm(
    wake: WakeSettings, due_at: datetime, secrets: TickSecrets, *, now: datetime, seconds: float
) -> datetime | None:
    """When somebody will call so that ``due_at`` has come; None where that is too far away for the platform.

    Raises ``NotArmed``, within ``seconds``.
    """
    alarm = alarm_for(due_at, now=now, precision=wake.precision)
    if wake.provider == "url" and alarm.at - now > _FURTHEST_AT_URL:
        return None
    try:
        async with asyncio.timeout(seconds):
            await _ask(wake, alarm, secrets, seconds)
    except NotArmed:
        _FAILED[_whose(wake)] = time.monotonic()
        raise
    except TimeoutError:
        _FAILED[_whose(wake)] = time.monotonic()
        raise NotArmed(f"no answer within {seconds:.1f} s") from None
    except LookupError as missing:  # the variable's name and the mend
        raise NotArmed(str(missing.args[0])) from None
    _FAILED.pop(_whose(wake), None)
    known = _ARMED.get(_whose(wake))
    _ARMED[_whose(wake)] = alarm.at if known is None or known <= now else min(known, alarm.at)
    return alarm.at


def is_armed(wake: WakeSettings, due_at: datetime, *, now: datetime) -> bool:
    """Whether this process has set an alarm for that moment or an earlier one: the tick that comes sees to the rest."""
    known = _ARMED.get(_whose(wake))
    return known is not None and now < known <= alarm_for(due_at, now=now, precision=wake.precision).at


def left_alone(wake: WakeSettings) -> bool:
    """Whether the platform failed just now: not every request of an app is to wait for it."""
    failed = _FAILED.get(_whose(wake))
    return failed is not None and time.monotonic() - failed < _LEFT_ALONE_SECONDS


async def _ask(wake: WakeSettings, alarm: Alarm, secrets: TickSecrets, seconds: float) -> None:
    if any(f"{name}_FROM" in os.environ for name in wake.secret_names):
        # On a thread: the platform may take seconds to answer, in which an app's loop is to turn.
        await in_thread(lambda: [secrets.read(name) for name in wake.secret_names], "wake secrets")
    # Each imported where it is used: botocore for the one, httpx's parts for the other.
    if wake.provider == "eventbridge":
        from crontick.jobs.wake import eventbridge

        await eventbridge.arm(wake, alarm, secrets, seconds=seconds)
    else:
        from crontick.jobs.wake import url

        await url.arm(wake, alarm, secrets, seconds=seconds)


def _whose(wake: WakeSettings) -> str:
    return f"{wake.url} {wake.target_arn or wake.target_arn_env} {wake.group}"
