"""The API as one application: its table of routes behind their doors."""

from collections.abc import Callable

from starlette.routing import Route as Path
from starlette.routing import Router
from starlette.types import ASGIApp, Receive, Scope, Send

from crontick.handler.auth import ENQUEUE_SECRET, digests
from crontick.handler.operate.door import Method, PathDoor, answering
from crontick.handler.operate.enqueue import PATH, enqueueing
from crontick.handler.operate.routes import ROUTES
from crontick.handler.problem import NOT_FOUND, Problem
from crontick.jobs.deployment import Deployment
from crontick.jobs.settings import Settings


def api(settings: Settings, deployment: Callable[[], Deployment] | None) -> ASGIApp:
    """The routes whose secret is set; making it connects to nothing."""
    methods: dict[str, dict[str, Method]] = {}
    if settings.admin_secrets:
        accepted = digests(settings.admin_secrets)
        for route in ROUTES:
            answer = answering(route, settings.database_url, deployment)
            methods.setdefault(route.path, {})[route.method] = Method(accepted, answer)
    if settings.enqueue_secrets and deployment is not None:
        answer = enqueueing(settings.database_url, deployment)
        methods.setdefault(PATH, {})["POST"] = Method(
            digests(settings.enqueue_secrets), answer, status=201, secret=ENQUEUE_SECRET
        )
    paths = [
        Path(f"{settings.prefix or ''}{path.replace('{id}', '{id:int}')}", PathDoor(doors))
        for path, doors in methods.items()
    ]
    return Router(paths, redirect_slashes=False, default=_not_found)


async def _not_found(_scope: Scope, _receive: Receive, _send: Send) -> None:
    raise Problem(
        NOT_FOUND, "no route of the API has this path, or its secret is not set: GET /openapi.json lists them"
    )
