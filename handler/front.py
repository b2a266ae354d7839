"""A deployment behind the front door, as a process of its own and inside somebody's app alike."""

from collections.abc import Callable
from typing import Final

from starlette.types import ASGIApp

from crontick.handler.app import create_app
from crontick.jobs.caller import Caller
from crontick.jobs.deployment import Deployment
from crontick.jobs.process import run_tick
from crontick.jobs.request import TickRequest
from crontick.jobs.settings import Settings
from crontick.jobs.stop import Stop
from crontick.jobs.summary import Summary

MISSING_DATABASE: Final = "CRONTICK_DATABASE_URL is not set, nor DATABASE_URL: name the PostgreSQL that has the jobs"


def front_door(
    settings: Settings, deployment: Callable[[], Deployment], *, retire: Callable[[], None] | None = None
) -> ASGIApp:
    """The routes of that deployment, which is asked for when a call was let in; it may raise ``Unavailable``."""

    async def tick(request: TickRequest, caller: Caller, stop: Stop) -> Summary:
        return await run_tick(deployment(), request, caller=caller, stop=stop)

    async def ready() -> None:
        from crontick.jobs.ready import check_ready

        await check_ready(deployment())

    return create_app(settings, run_tick=tick, check_ready=ready, retire=retire, deployment=deployment)
