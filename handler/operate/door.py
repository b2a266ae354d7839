"""The door of one path of the API: who may pass, which method, and what was asked."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qsl

import msgspec
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from crontick.handler.auth import ADMIN_SECRET, admit
from crontick.handler.body import read_body
from crontick.handler.operate.refused import NotDone
from crontick.handler.operate.routes import Route
from crontick.handler.operate.waking import Deploying, wake_after
from crontick.handler.problem import CONFLICT, METHOD_NOT_ALLOWED, NOT_JSON, NOT_THERE, OUT_OF_RANGE, Problem, Type
from crontick.jobs.report_files import opened

REFUSALS: Final[dict[str, Type]] = {"missing": NOT_THERE, "conflict": CONFLICT, "out of range": OUT_OF_RANGE}


class Method(NamedTuple):
    """One method of a path: whose token opens it, what answers, with which status, and the variable of the tokens."""

    accepted: tuple[bytes, ...]
    answer: Callable[[Scope, Receive], Awaitable[msgspec.Struct]]
    status: int = 200
    secret: str = ADMIN_SECRET


class PathDoor:
    """All methods of one path. Of a request without the right token nothing is read but its head (P30)."""

    def __init__(self, methods: Mapping[str, Method]) -> None:
        self._methods = methods
        self._accepted = tuple(digest for method in methods.values() for digest in method.accepted)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or raise ``Problem``."""
        found = self._methods.get("GET" if scope["method"] == "HEAD" else scope["method"])
        secrets = sorted({method.secret for method in ([found] if found else self._methods.values())})
        admit(scope, found.accepted if found else self._accepted, " or ".join(secrets))
        if found is None:
            allowed = ", ".join(
                name for name in ("GET", "HEAD", "POST") if name.replace("HEAD", "GET") in self._methods
            )
            raise Problem(METHOD_NOT_ALLOWED, f"this path takes {allowed}", {"allow": allowed})
        told = msgspec.json.encode(await found.answer(scope, receive))
        headers = {"cache-control": "no-store"}
        response = Response(told, found.status, headers=headers, media_type="application/json")
        await response(scope, receive, send)


def answering(
    route: Route, database_url: str | None, deploying: Deploying | None
) -> Callable[[Scope, Receive], Awaitable[msgspec.Struct]]:
    """What a route does with a request that was let in; what somebody decides may make a job due."""

    async def answer(scope: Scope, receive: Receive) -> msgspec.Struct:
        if route.method == "GET":
            given = _query(scope)
        else:
            given = read_object(await read_body(scope, receive, bytes_at_most=route.bytes_at_most), route.fields)
        if unknown := given.keys() - set(route.fields):
            raise out_of_range(f"there is no field `{min(unknown)[:80]}`", route.fields)
        in_path = {name: scope["path_params"][name] for name in route.in_path}
        asked = _asked(given | in_path, route)
        try:
            async with opened(database_url) as conn:
                done = await route.do(conn, asked)
        except NotDone as refused:
            raise Problem(REFUSALS[refused.why], str(refused)) from None
        if route.method == "POST":
            await wake_after(deploying)
        return done

    return answer


def read_object(body: bytes, fields: tuple[str, ...]) -> dict[str, Any]:
    """The fields of a JSON object as they are written. Raises ``Problem`` 400."""
    try:
        return dict(msgspec.json.decode(body, type=dict[str, msgspec.Raw]))
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        raise not_json(fields) from None


def not_json(fields: tuple[str, ...]) -> Problem:
    """The body cannot be read."""
    return Problem(NOT_JSON, f"the body is not a JSON object in UTF-8: its fields are {', '.join(fields)}")


def out_of_range(said: str, fields: tuple[str, ...]) -> Problem:
    """A field that is unknown or out of range."""
    known = f"the fields are {', '.join(fields)}" if fields else "it takes no fields"
    return Problem(OUT_OF_RANGE, f"{said}; {known}")


def _query(scope: Scope) -> dict[str, Any]:
    pairs = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    given = dict(pairs)
    if len(given) < len(pairs):
        raise Problem(OUT_OF_RANGE, "the query names something twice: once is meant")
    return given


def _asked(given: dict[str, Any], route: Route) -> Any:
    try:
        if route.method == "POST":
            return msgspec.json.decode(msgspec.json.encode(given), type=route.asked)
        return msgspec.convert(given, type=route.asked, strict=False)
    except msgspec.ValidationError as error:
        raise out_of_range(str(error), route.fields) from None
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        raise not_json(route.fields) from None
