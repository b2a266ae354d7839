"""The doors of decisions about what is called and claimed: breakers, pause and resume."""

from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from crontick.handler.auth import admit, digests
from crontick.handler.body import read_body
from crontick.handler.problem import METHOD_NOT_ALLOWED, NOT_JSON, NOT_THERE, OUT_OF_RANGE, Problem
from crontick.jobs.settings import Settings

Text = Annotated[str, Meta(pattern=r"^[^\x00]*\Z")]
"""PostgreSQL stores no NUL."""


class _Breaker(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """``POST /api/breakers/open``, ``close`` and ``reset``."""

    target: Text
    by: Text
    reason: Text | None = None


class _Work(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """``POST /api/pause`` and ``/api/resume``."""

    what: Text
    by: Text
    name: Text = ""
    reason: Text | None = None


ACTIONS: Final[dict[str, tuple[str, type[msgspec.Struct], dict[str, Any]]]] = {
    "/api/breakers/open": ("open_breaker", _Breaker, {"state": "open"}),
    "/api/breakers/close": ("close_breaker", _Breaker, {"state": "closed"}),
    "/api/breakers/reset": ("reset_breaker", _Breaker, {"state": "closed"}),
    "/api/pause": ("pause_work", _Work, {"paused": True}),
    "/api/resume": ("resume_work", _Work, {"paused": False}),
}
"""By path: the query, what its body says, and what is so afterwards."""


class ActionDoor:
    """One path of ``ACTIONS``, for the admin's token."""

    def __init__(self, settings: Settings, path: str) -> None:
        self._settings = settings
        self._digests = digests(settings.admin_secrets)
        self._query, self._fields, self._after = ACTIONS[path]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Do it, and answer with what was named and how it is now."""
        from crontick.jobs.operating import NotDone, act

        admit(scope, self._digests)
        _only(scope, "POST")
        asked = _read(await read_body(scope, receive), self._fields)
        try:
            await act(self._settings.database_url, self._query, asked)
        except NotDone as refused:
            raise Problem(NOT_THERE if refused.missing else OUT_OF_RANGE, str(refused)) from None
        named = {name: asked[name] for name in ("target", "what", "name") if name in asked}
        await _answer(named | self._after, scope, receive, send)


class BreakersDoor:
    """``GET /api/breakers``, for the admin's token."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._digests = digests(settings.admin_secrets)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with the targets that failed lately."""
        from crontick.jobs.operating import breakers

        admit(scope, self._digests)
        _only(scope, "GET", "HEAD")
        await _answer({"breakers": await breakers(self._settings.database_url)}, scope, receive, send)


def _only(scope: Scope, *methods: str) -> None:
    if Request(scope).method not in methods:
        allowed = ", ".join(methods)
        raise Problem(METHOD_NOT_ALLOWED, f"this path takes {allowed}", {"allow": allowed})


def _read(body: bytes, fields: type[msgspec.Struct]) -> dict[str, Any]:
    try:
        return msgspec.structs.asdict(msgspec.json.decode(body, type=fields))
    except msgspec.ValidationError as error:
        known = ", ".join(fields.__struct_fields__)
        raise Problem(OUT_OF_RANGE, f"{error}; the fields are {known}") from None
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        example = '{"' + fields.__struct_fields__[0] + '": "…", "by": "ann"}'
        raise Problem(NOT_JSON, f"the body is not JSON in UTF-8: send an object such as {example}") from None


async def _answer(told: dict[str, Any], scope: Scope, receive: Receive, send: Send) -> None:
    body = msgspec.json.encode(told)
    headers = {"cache-control": "no-store"}
    await Response(body, headers=headers, media_type="application/json")(scope, receive, send)
