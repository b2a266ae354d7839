"""Pages and their headers: every answer forbids what the page does not need (P38)."""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlencode

from starlette.responses import Response

from crontick.handler.dashboard.rendering import render
from crontick.handler.dashboard.session import Session
from crontick.handler.dashboard.visit import Go, Page

HEADERS: Final = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
        " form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
}


def shown(page: Page, path: str, session: Session | None = None, more: Mapping[str, Any] | None = None) -> Response:
    """The page that stands at that path below ``/dashboard``."""
    values = {"up": _up(path), "path": path, "session": session, "frame": None, "said": "", **(more or {})}
    return Response(render(page.template, values | page.values), page.status, HEADERS, "text/html; charset=utf-8")


def gone(path: str, go: Go, session: Session | None = None) -> Response:
    """From that path to another page. What it says there is signed: no link of others puts words into the page."""
    to = _up(path) + (go.to or "../dashboard")
    if go.sentence and session:
        said = urlencode({"said": go.sentence, "seal": session.sign(go.sentence)})
        to += f"{'&' if '?' in to else '?'}{said}"
    return Response(status_code=303, headers={**HEADERS, "location": to})


def with_cookie(response: Response, cookie: str | None) -> Response:
    """The same, which sets that cookie if there is one."""
    if cookie:
        response.headers["set-cookie"] = cookie
    return response


def _up(path: str) -> str:
    """From the page at that path to what lies below ``/dashboard``.

    All links are relative, so that no proxy and no app that mounts us has to say where we are.
    """
    return "../" * path.count("/") or "./" if path else "dashboard/"
