"""Whether the platform that ``[wake]`` names could be asked for an alarm."""

from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from urllib.parse import urlsplit

from crontick.handler.cli.findings import Finding
from crontick.handler.lengths import lasting
from crontick.jobs.aws_client import region
from crontick.jobs.outward_sections import WakeSettings
from crontick.jobs.secrets import read_secret
from crontick.jobs.settings import WITHOUT_ALARMS, Settings
from crontick.jobs.wake.checked import arn_fault
from crontick.sql.extras import install


def unwoken(settings: Settings, wake: WakeSettings | None, environ: Mapping[str, str]) -> Iterator[Finding]:
    """What is missing for it, and whom it asks how exactly."""
    if wake is None:
        return
    for name in wake.secret_names:
        yield from _variable(name, environ, is_arn=name in (wake.target_arn_env, wake.role_arn_env))
    whom = urlsplit(wake.url or "").hostname
    if wake.provider == "eventbridge":
        whom = "EventBridge Scheduler"
        if find_spec("botocore") is None:
            yield Finding(wrong=True, sentence=f"[wake] asks EventBridge, and botocore is not here: {install('aws')}")
        if region(environ) is None:
            yield Finding(wrong=False, sentence="[wake] asks EventBridge, and AWS_REGION is not set: set the region")
    if settings.environment in WITHOUT_ALARMS:
        yield Finding(wrong=False, sentence=f"[wake]: no alarm is set in the environment {settings.environment}")
    yield Finding(
        wrong=False,
        sentence=f"[wake]: alarms are asked of {whom}, rounded up to {lasting(wake.precision)}; keep a slow schedule"
        " beside them (docs/waking.md)",
    )


def _variable(name: str, environ: Mapping[str, str], *, is_arn: bool) -> Iterator[Finding]:
    try:
        value = read_secret(environ, name)
    except ValueError as error:
        yield Finding(wrong=True, sentence=f"{error}; [wake] of crontick.toml needs it")
        return
    if value is None:
        yield Finding(wrong=True, sentence=f"{name} is not set, and [wake] of crontick.toml needs it")
    elif is_arn and (fault := arn_fault(value)):
        yield Finding(wrong=True, sentence=f"{name} {fault}")
