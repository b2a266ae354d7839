"""Alarms of EventBridge Scheduler: schedules that call once and then delete themselves."""

from typing import Final

from crontick.jobs.aws_client import AwsError, call_aws
from crontick.jobs.outward_sections import WakeSettings
from crontick.jobs.tick_secrets import TickSecrets
from crontick.jobs.wake.alarm import Alarm, NotArmed
from crontick.jobs.wake.checked import arn_fault

__all__ = ["arm"]

_EXISTS: Final = "ConflictException"
_RETRIES: Final = {"MaximumEventAgeInSeconds": 3600, "MaximumRetryAttempts": 20}
"""A call that is an hour late is none that anybody waits for: the safety schedule was there before."""
_MENDS: Final = {
    "ResourceNotFoundException": "make the schedule group that [wake] group names",
    "AccessDeniedException": "allow scheduler:CreateSchedule, and iam:PassRole for role_arn",
    "ValidationException": "see target_arn and role_arn of [wake]",
}


async def arm(wake: WakeSettings, alarm: Alarm, secrets: TickSecrets, *, seconds: float) -> None:
    """Set the alarm, or find it set. Raises ``NotArmed``."""
    target_arn = _arn(wake.target_arn, wake.target_arn_env, secrets)
    parameters = {
        "Name": alarm.name(target_arn, wake.input),
        "GroupName": wake.group,
        "ScheduleExpression": f"at({alarm.at:%Y-%m-%dT%H:%M:%S})",
        "ScheduleExpressionTimezone": "UTC",
        "FlexibleTimeWindow": {"Mode": "OFF"},
        "ActionAfterCompletion": "DELETE",
        "Target": {
            "Arn": target_arn,
            "RoleArn": _arn(wake.role_arn, wake.role_arn_env, secrets),
            "Input": wake.input,
            "RetryPolicy": _RETRIES,
        },
    }
    try:
        await call_aws("scheduler", "create_schedule", parameters, seconds=seconds)
    except AwsError as error:
        if error.code != _EXISTS:
            mend = f": {_MENDS[error.code]}" if error.code in _MENDS else ""
            raise NotArmed(f"{error}{mend}") from None


def _arn(arn: str | None, variable: str | None, secrets: TickSecrets) -> str:
    if arn is not None:
        return arn
    assert variable is not None
    found = secrets.read(variable)
    if fault := arn_fault(found):
        raise NotArmed(f"{variable} {fault}")
    return found
