"""The front door inside somebody's app: made at its first call, and tried again while the settings are wrong."""

import os
from collections.abc import Callable
from typing import Final, TypeVar

from msgspec.structs import replace
from starlette.types import ASGIApp, Receive, Scope, Send

from crontick.handler import logs
from crontick.handler.app import with_problems
from crontick.handler.front import MISSING_DATABASE, front_door
from crontick.handler.lazily import lazily
from crontick.handler.logs import log
from crontick.handler.paths import WRAPPED_PREFIX
from crontick.jobs.config_error import ConfigError
from crontick.jobs.deployment import Deployment, DeploymentError, load_deployment
from crontick.jobs.interrupts import is_ctrl_c
from crontick.jobs.redact import Redactor
from crontick.jobs.settings import Settings, SettingsError
from crontick.jobs.unavailable import Unavailable

Made = TypeVar("Made")

WRONG_SETTINGS: Final = "this deployment's settings are wrong: `crontick check` says how"
RETRY_SECONDS: Final = 60


def inside() -> ASGIApp:
    """Our routes under the wrapped prefix; wrong settings are a 503 without details, which the log has.

    The settings, and so the secrets, are read at the first call; the modules with the kinds are imported at the first
    whose token is right: nobody else can make a process work.
    """
    door = lazily(_judged(_door))

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        await door()(scope, receive, send)

    return with_problems(answer)


def _door() -> ASGIApp:
    settings = Settings.from_environ(os.environ)
    if settings.cron_secrets and settings.database_url is None:
        raise SettingsError([MISSING_DATABASE])
    settings = replace(settings, prefix=settings.prefix or WRAPPED_PREFIX)
    logs.redact(Redactor(settings.secrets), kinds=())
    return front_door(settings, lazily(_judged(lambda: _loaded(settings))))


def _loaded(settings: Settings) -> Deployment:
    deployment = load_deployment(settings)
    logs.redact(deployment.redact, kinds=deployment.kinds)
    return deployment


def _judged(make: Callable[[], Made]) -> Callable[[], Made]:
    """``make``, whose errors are then in the log, and ``Unavailable`` for the caller."""

    def made() -> Made:
        try:
            return make()
        except (SettingsError, ConfigError, DeploymentError) as error:
            log.error("%s:\n%s", WRONG_SETTINGS, error)
        except BaseException as error:
            if is_ctrl_c(error):
                raise
            log.exception(WRONG_SETTINGS)
        raise Unavailable(WRONG_SETTINGS, retry_after_seconds=RETRY_SECONDS)

    return made
