"""``crontick.handler.asgi:app``: the front door as a process of its own, under any ASGI server."""

from crontick.handler.starting import started  # it holds for the imports that follow

# isort: split
import os
from collections.abc import Mapping

from starlette.types import ASGIApp

from crontick.handler import logs
from crontick.handler.front import MISSING_DATABASE, front_door
from crontick.handler.shutdown import retire
from crontick.jobs.config_error import ConfigError
from crontick.jobs.deployment import DeploymentError, load_deployment
from crontick.jobs.settings import Settings, SettingsError


def standalone(environ: Mapping[str, str]) -> ASGIApp:
    """The application, of a deployment that was checked whole; raises ``SystemExit`` with what is missing."""
    try:
        settings = _serving(Settings.from_environ(environ))
        deployment = load_deployment(settings)
    except (SettingsError, ConfigError, DeploymentError) as error:
        # A sentence for the operator; from an exception the server would make a page of traceback.
        raise SystemExit(f"crontick does not start:\n{error}") from None
    logs.configure(deployment.redact, log_format=settings.log_format)
    return front_door(settings, lambda: deployment, retire=retire)


def _serving(settings: Settings) -> Settings:
    missing = []
    if not settings.cron_secrets:
        missing.append("CRON_SECRET is not set: make one with `openssl rand -hex 32`")
    if settings.database_url is None:
        missing.append(MISSING_DATABASE)
    if missing:
        raise SettingsError(missing)
    return settings


try:
    app = standalone(os.environ)
finally:  # whoever catches what keeps it from starting has a collector again
    started()
