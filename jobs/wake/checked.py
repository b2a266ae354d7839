"""What is wrong with a ``[wake]`` as a whole, told with the mend."""

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from crontick.jobs.operator_url import check_url
from crontick.jobs.wake.template import FILLED, placeholders

if TYPE_CHECKING:
    from crontick.jobs.outward_sections import WakeSettings

__all__ = ["EVENTBRIDGE_PRECISION", "check_wake"]

EVENTBRIDGE_PRECISION: Final = timedelta(minutes=1)
"""Whatever the second says, it calls within the minute: docs.aws.amazon.com/scheduler, "Schedule types"."""
_OF_EVENTBRIDGE: Final = ("target_arn", "target_arn_env", "role_arn", "role_arn_env")
_OF_URL: Final = ("url", "headers", "secrets_env", "auth")


def check_wake(wake: "WakeSettings") -> None:
    """Raises ``ValueError`` for what could never wake anybody."""
    if wake.precision < timedelta(seconds=1) or wake.precision > timedelta(hours=1):
        raise ValueError("precision is a second at least and an hour at most")
    if not timedelta(0) < wake.timeout <= timedelta(seconds=30):
        raise ValueError("timeout must be longer than nothing and at most 30 s")
    strangers = _OF_URL if wake.provider == "eventbridge" else _OF_EVENTBRIDGE
    for name in strangers:
        if getattr(wake, name):
            raise ValueError(f"{name} belongs to the other provider, and this one is {wake.provider}: take it out")
    if wake.provider == "eventbridge":
        _check_eventbridge(wake)
    else:
        _check_url(wake)


def _check_eventbridge(wake: "WakeSettings") -> None:
    if wake.precision < EVENTBRIDGE_PRECISION:
        raise ValueError("precision is a minute at least: EventBridge Scheduler calls somewhere within the minute")
    for name in ("target_arn", "role_arn"):
        arn, variable = getattr(wake, name), getattr(wake, f"{name}_env")
        if (arn is None) == (variable is None):
            raise ValueError(f"give {name} or {name}_env, which names the variable that has it, and not both")
        if arn is not None and (fault := arn_fault(arn)):
            raise ValueError(f"{name} {fault}")


def arn_fault(arn: str) -> str | None:
    """Why it is no ARN; None for one."""
    if arn.startswith("arn:") and arn.count(":") >= 5:
        return None
    return "is no ARN, such as arn:aws:lambda:eu-central-1:123456789012:function:crontick"


def _check_url(wake: "WakeSettings") -> None:
    if wake.url is None:
        raise ValueError("url is missing: where an alarm is asked for (docs/waking.md)")
    check_url(wake.url)
    for name in wake.secrets_env:
        if not name.isidentifier() or name in FILLED:
            raise ValueError(f"secrets_env has {name}, which is no name of a placeholder of yours: choose another")
    known = {*FILLED, *wake.secrets_env}
    for text in (wake.body, *wake.headers.values()):
        for name in placeholders(text):
            if name not in known:
                raise ValueError(f"{{{{{name}}}}} is filled in by nobody: there are {', '.join(sorted(known))}")
