"""``GET /metrics``, for the admin's token."""

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from crontick.handler.auth import ADMIN_SECRET, admit, digests
from crontick.handler.operate.metrics import gather
from crontick.handler.operate.prometheus import CONTENT_TYPE, text
from crontick.handler.operate.refused import NotDone
from crontick.handler.problem import METHOD_NOT_ALLOWED, Problem
from crontick.jobs.deployment import Deployment
from crontick.jobs.report_files import opened
from crontick.jobs.settings import Settings
from crontick.jobs.unavailable import Unavailable


class MetricsDoor:
    """Each call reads the database, and so keeps one that sleeps awake."""

    def __init__(self, settings: Settings, deployment: Callable[[], Deployment]) -> None:
        self._settings = settings
        self._deployment = deployment
        self._digests = digests(settings.admin_secrets)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer in Prometheus' text format."""
        admit(scope, self._digests, ADMIN_SECRET)
        if Request(scope).method not in ("GET", "HEAD"):
            raise Problem(METHOD_NOT_ALLOWED, "this path is read with GET", {"allow": "GET, HEAD"})
        deployment = self._deployment()
        try:
            async with opened(self._settings.database_url) as conn:
                page = text(await gather(conn, deployment))
        except NotDone as refused:
            raise Unavailable(str(refused)) from None
        headers = {"cache-control": "no-store", "content-type": CONTENT_TYPE}
        await Response(page, headers=headers)(scope, receive, send)
