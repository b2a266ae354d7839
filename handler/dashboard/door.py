"""The door of the page: who comes in, and where to (P38)."""

import re
from collections.abc import Callable
from typing import Final
from urllib.parse import urlencode

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from crontick.handler.dashboard.answering import HEADERS, gone, shown, with_cookie
from crontick.handler.dashboard.form import Form, read_form, read_pairs
from crontick.handler.dashboard.frame import read_frame
from crontick.handler.dashboard.login import Login, wanted
from crontick.handler.dashboard.origin import is_ours
from crontick.handler.dashboard.routes import READS, WRITES
from crontick.handler.dashboard.session import Session
from crontick.handler.dashboard.static import STATIC
from crontick.handler.dashboard.visit import Answer, Go, Page, Visit
from crontick.handler.operate.refused import NotDone
from crontick.handler.operate.waking import wake_after
from crontick.handler.problem import (
    CONFLICT,
    FORM_REFUSED,
    METHOD_NOT_ALLOWED,
    NOT_FOUND,
    NOT_THERE,
    OUT_OF_RANGE,
    RUNBOOK,
    UNAVAILABLE,
    Problem,
)
from crontick.jobs.deployment import Deployment
from crontick.jobs.report_files import opened
from crontick.jobs.settings import Settings
from crontick.jobs.unavailable import Unavailable

_REFUSALS: Final = {"missing": NOT_THERE, "conflict": CONFLICT, "out of range": OUT_OF_RANGE}
_NUMBER: Final = re.compile(r"[0-9]{1,18}")
_A_YEAR: Final = {**HEADERS, "cache-control": "max-age=31536000"}
"""Links to static files name their content."""


class DashboardDoor:
    """``/dashboard`` and all below it."""

    def __init__(self, settings: Settings, deployment: Callable[[], Deployment] | None = None) -> None:
        self._settings = settings
        self._deployment = deployment
        self._login = Login(settings)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with a page, also where something is wrong."""
        path, headers = _path(scope), Headers(scope=scope)
        try:
            response = await self._answer(path, headers, scope, receive)
        except Unavailable as told:
            seconds = str(told.retry_after_seconds)
            response = self._wrong(Problem(UNAVAILABLE, told.reason, {"retry-after": seconds}), path, headers)
        except NotDone as refused:
            response = self._wrong(Problem(_REFUSALS[refused.why], str(refused)), path, headers)
        except Problem as problem:
            response = self._wrong(problem, path, headers)
        await response(scope, receive, send)

    async def _answer(self, path: str, headers: Headers, scope: Scope, receive: Receive) -> Response:
        reads = scope["method"] in ("GET", "HEAD")
        if reads and path in STATIC:
            content, kind = STATIC[path]
            return Response(content, headers=_A_YEAR, media_type=kind)
        if path == "login":
            return await self._ask_who(headers, scope, receive)
        session = self._login.session(headers)
        answer, number = _routed(path, scope["method"])
        if reads:
            if session is None:
                return _to_login(path, headers, scope["query_string"].decode("latin-1"))
            return await self._show(answer, session, read_pairs(scope["query_string"]), (path, number))
        if session is None:
            raise Problem(FORM_REFUSED, "nobody is logged in here, or not any more: log in, and send it again")
        form = await self._form(session, headers, scope, receive)
        if path == "logout":
            return with_cookie(gone(path, Go("login")), self._login.over)
        return await self._show(answer, session, form, (path, number))

    async def _ask_who(self, headers: Headers, scope: Scope, receive: Receive) -> Response:
        _only(scope["method"], "GET", "HEAD", "POST")
        if scope["method"] != "POST":
            page, cookie = self._login.asked(headers, read_pairs(scope["query_string"]))
            return with_cookie(shown(page, "login"), cookie)
        address = scope["client"][0] if scope.get("client") else ""
        visitor = self._login.visitor(headers, address)
        form = await self._form(visitor, headers, scope, receive)
        got, cookie = self._login.tried(visitor, form, address)
        return with_cookie(gone("login", got) if isinstance(got, Go) else shown(got, "login"), cookie)

    async def _form(self, session: Session, headers: Headers, scope: Scope, receive: Receive) -> Form:
        """What this session sent by a page of ours; the origin is judged before the body is read."""
        if not is_ours(headers, self._settings.public_url):
            raise Problem(FORM_REFUSED, "it came from another site: open the page here, and send it again")
        form = await read_form(scope, receive)
        if not session.is_token(form.get("token")):
            raise Problem(FORM_REFUSED, "it was made for another login: open the page again, and send it again")
        return form

    async def _show(self, answer: Answer, session: Session, told: Form, at: tuple[str, int]) -> Response:
        path, number = at
        async with opened(self._settings.database_url) as conn:
            got = await answer(Visit(self._settings, session, conn, told, number, self._deployment))
            frame = await read_frame(conn) if isinstance(got, Page) else None
        if isinstance(got, Go):
            await wake_after(self._deployment)
            return gone(path, got, session)
        said = told.get("said")
        return shown(
            got, path, session, {"frame": frame, "said": said if session.signed(said, told.get("seal")) else ""}
        )

    def _wrong(self, problem: Problem, path: str, headers: Headers) -> Response:
        values = {"type": problem.type, "detail": problem.detail, "runbook": f"{RUNBOOK}#{problem.type.anchor}"}
        response = shown(Page("wrong.html", values, problem.type.status), path, self._login.session(headers))
        response.headers.update(problem.headers)
        return response


def _path(scope: Scope) -> str:
    """What follows ``/dashboard/``; with nothing there it is another path than ``/dashboard``."""
    path: str | None = scope["path_params"].get("path")
    return "" if path is None else path or "/"


def _routed(path: str, method: str) -> tuple[Answer, int]:
    """The function for that path, and the number in it. Raises ``Problem``."""
    parts = path.split("/")
    numbers = [int(part) for part in parts if _NUMBER.fullmatch(part)]
    pattern = "/".join("N" if _NUMBER.fullmatch(part) else part for part in parts)
    allowed = (["GET", "HEAD"] if pattern in READS else []) + (["POST"] if pattern in WRITES else [])
    if not allowed or "N" in parts:
        raise Problem(NOT_FOUND, "the page has nothing there")
    _only(method, *allowed)
    return (WRITES if method == "POST" else READS)[pattern], numbers[0] if numbers else 0


def _only(method: str, *allowed: str) -> None:
    if method not in allowed:
        raise Problem(METHOD_NOT_ALLOWED, f"this takes {', '.join(allowed)}", {"allow": ", ".join(allowed)})


def _to_login(path: str, headers: Headers, query: str) -> Response:
    """A link on another site brings no cookie that is ``SameSite=Strict``: the page itself then asks again."""
    here = f"{path}?{query}" if query else path
    if headers.get("sec-fetch-site") == "cross-site" and "arrived=" not in query:
        again = f"{here or '../dashboard'}{'&' if query else '?'}arrived=1"
        return shown(Page("arrive.html", {"again": again}), path)
    return gone(path, Go(f"login?{urlencode({'next': wanted(here)})}"))
