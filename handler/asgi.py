"""``crontick.handler.asgi:app``: the front door as a process of its own, under any ASGI server."""

import os
from collections.abc import Mapping

from starlette.types import ASGIApp

from crontick.handler import logs
from crontick.handler.app import create_app
from crontick.handler.shutdown import retire
from crontick.jobs.config_error import ConfigError
from crontick.jobs.deployment import DeploymentError, load_deployment
from crontick.jobs.process import run_tick
from crontick.jobs.ready import check_ready
from crontick.jobs.settings import Settings, SettingsError


def standalone(environ: Mapping[str, str]) -> ASGIApp:
    """The application, of a deployment that was checked whole; raises ``SystemExit`` with what is missing."""
    try:
        settings = _serving(Settings.from_environ(environ))
        deployment = load_deployment(settings)
    except (SettingsError, ConfigError, DeploymentError) as error:
        # A sentence for the operator; from an exception the server would make a page of traceback.
        raise SystemExit(f"crontick does not start:\n{error}") from None
    logs.configure(deployment.redact)
    return create_app(
        settings,
        run_tick=lambda request, caller, stop: run_tick(deployment, request, caller=caller, stop=stop),
        check_ready=lambda: check_ready(deployment),
        retire=retire,
    )


def _serving(settings: Settings) -> Settings:
    missing = []
    if not settings.cron_secrets:
        missing.append("CRON_SECRET is not set: make one with `openssl rand -hex 32`")
    if settings.database_url is None:
        missing.append("CRONTICK_DATABASE_URL is not set, nor DATABASE_URL: name the PostgreSQL that has the jobs")
    if missing:
        raise SettingsError(missing)
    return settings


app = standalone(os.environ)
