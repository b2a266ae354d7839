"""``GET /openapi.json``: the routes that this deployment has, described from the tables that route."""

from typing import Any, Final

import msgspec
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from crontick.handler.operate.enqueue import KEY_CHARACTERS, PATH, TRACE_HEADER, EnqueuedJobs, NewJob
from crontick.handler.operate.others import OTHERS, Other
from crontick.handler.operate.routes import ROUTES, Route
from crontick.handler.problem import METHOD_NOT_ALLOWED, TYPES, Problem
from crontick.jobs.report_files import Run
from crontick.jobs.request import TickRequest
from crontick.jobs.settings import Settings
from crontick.sql import VERSION

REF: Final = "#/components/schemas/{name}"
_READING: Final = (401, 404, 422, 500, 503)
_ACTING: Final = (400, 401, 404, 408, 409, 413, 415, 422, 500, 503)
_ENQUEUEING: Final = (400, 401, 403, 408, 413, 415, 422, 500, 503)
_TITLES: Final = {
    status: "; ".join(t.title for t in TYPES if t.status == status) for status in {t.status for t in TYPES}
}
_PROBLEM: Final = {
    "description": "An error (RFC 9457): type links to the runbook, detail says what to do.",
    "type": "object",
    "properties": {
        "type": {"type": "string", "format": "uri"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
    },
    "required": ["type", "title", "status", "detail"],
}
_BEARER: Final = {"type": "http", "scheme": "bearer"}
_SCHEMES: Final = {
    "cron": {**_BEARER, "description": "CRON_SECRET"},
    "admin": {**_BEARER, "description": "CRONTICK_ADMIN_SECRET"},
    "enqueue": {**_BEARER, "description": "CRONTICK_ENQUEUE_SECRET"},
    "link": {"type": "apiKey", "in": "query", "name": "signature", "description": "a link that crontick signed"},
}


class DocumentDoor:
    """Made once: nobody can make a process work by asking for it often."""

    def __init__(self, settings: Settings) -> None:
        self._document = msgspec.json.encode(document(settings))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with the document; it needs no secret and tells none."""
        if scope["method"] not in ("GET", "HEAD"):
            raise Problem(METHOD_NOT_ALLOWED, "this path is read with GET", {"allow": "GET, HEAD"})
        await Response(self._document, media_type="application/json")(scope, receive, send)


def document(settings: Settings) -> dict[str, Any]:
    """The OpenAPI 3.1 document of a deployment with these settings."""
    types = [NewJob, EnqueuedJobs, Run, TickRequest, *(type_ for r in ROUTES for type_ in (r.asked, r.told))]
    _, components = msgspec.json.schema_components(types, ref_template=REF)
    schemas: dict[str, Any] = _portable({**components, "Problem": _PROBLEM})
    schemas["Report"] = _report(schemas.pop("Run"))
    paths: dict[str, dict[str, Any]] = {}
    for other in OTHERS:
        if other.exists(settings):
            prefix = "" if other.at_root else settings.prefix or ""
            paths.setdefault(f"{prefix}{other.path}", {})[other.method.lower()] = _other(other)
    if settings.admin_secrets:
        for route in ROUTES:
            path = paths.setdefault(f"{settings.prefix or ''}{route.path}", {})
            path[route.method.lower()] = _operation(route, schemas[route.asked.__name__])
    if settings.enqueue_secrets:
        paths.setdefault(f"{settings.prefix or ''}{PATH}", {})["post"] = _enqueueing()
    asked = {route.asked.__name__ for route in ROUTES}
    return {
        "openapi": "3.1.0",
        "info": {"title": "crontick", "version": VERSION, "description": "Background jobs for apps that sleep."},
        "paths": paths,
        "components": {
            "schemas": {name: schema for name, schema in sorted(schemas.items()) if name not in asked},
            "securitySchemes": _SCHEMES,
        },
    }


def _operation(route: Route, asked: dict[str, Any]) -> dict[str, Any]:
    fields = asked["properties"]
    told: dict[str, Any] = {
        "summary": route.says,
        "operationId": route.do.__name__,
        "security": [{"admin": []}],
        "parameters": [
            {"name": name, "in": "path", "required": True, "schema": fields[name]} for name in route.in_path
        ],
        "responses": {"200": _json(route.told.__name__), **_refusals(_READING if route.method == "GET" else _ACTING)},
    }
    if route.method == "GET":
        told["parameters"] += [
            {"name": name, "in": "query", "required": False, "schema": _given(fields[name])} for name in route.fields
        ]
        return told
    body = {
        **asked,
        "title": f"{route.do.__name__} body",
        "properties": {name: fields[name] for name in route.fields},
        "required": [name for name in asked["required"] if name in route.fields],
    }
    return {**told, "requestBody": {"required": True, "content": {"application/json": {"schema": body}}}}


def _enqueueing() -> dict[str, Any]:
    one = {"$ref": REF.format(name="NewJob")}
    many = {"type": "array", "items": one, "minItems": 1, "maxItems": 1000}
    return {
        "summary": "Enqueue a job, or up to 1,000: all of them, or none.",
        "operationId": "enqueue",
        "security": [{"enqueue": []}],
        "parameters": [
            {
                "name": "Idempotency-Key",
                "in": "header",
                "description": "A repeat within 24 hours is answered as the first request was.",
                "schema": {"type": "string", "minLength": 1, "maxLength": KEY_CHARACTERS},
            },
            {
                "name": TRACE_HEADER,
                "in": "header",
                "description": "W3C Trace Context: the trace that the jobs belong to, where it can be read.",
                "schema": {"type": "string"},
            },
        ],
        "requestBody": {"required": True, "content": {"application/json": {"schema": {"oneOf": [one, many]}}}},
        "responses": {"201": _json("EnqueuedJobs"), **_refusals(_ENQUEUEING)},
    }


def _other(other: Other) -> dict[str, Any]:
    content = {
        media: {"schema": {"$ref": REF.format(name=schema)} if isinstance(schema, str) else schema}
        for media, schema in other.answers.items()
    }
    told: dict[str, Any] = {
        "summary": other.says,
        "operationId": other.name,
        "security": [{scheme: []} for scheme in other.secrets],
        "parameters": list(other.parameters),
        "responses": {
            **{str(status): {"description": said} for status, said in other.bodiless.items()},
            **{str(status): {"description": other.says, "content": content} for status in other.statuses},
            **_refusals(other.refusals),
        },
    }
    if other.asked:
        asked = {"$ref": REF.format(name=other.asked)}
        told["requestBody"] = {"required": False, "content": {"application/json": {"schema": asked}}}
    return told


def _report(run: dict[str, Any]) -> dict[str, Any]:
    """A run, and where its file is; by a link no error's text is told (P31)."""
    download = {"anyOf": [{"type": "string"}, {"type": "null"}]}
    required = [name for name in run["required"] if name != "last_error"]
    return {**run, "title": "Report", "properties": {**run["properties"], "download": download}, "required": required}


def _json(name: str) -> dict[str, Any]:
    return {"description": "Done.", "content": {"application/json": {"schema": {"$ref": REF.format(name=name)}}}}


def _refusals(statuses: tuple[int, ...]) -> dict[str, Any]:
    problem = {"application/problem+json": {"schema": {"$ref": REF.format(name="Problem")}}}
    return {str(status): {"description": _TITLES[status], "content": problem} for status in statuses}


def _given(schema: dict[str, Any]) -> dict[str, Any]:
    """A field of a query, which is there or is not: without the null that says the latter in a body."""
    options = [option for option in schema.get("anyOf", ()) if option != {"type": "null"}]
    return options[0] if options else schema


def _portable(schema: Any) -> Any:
    r"""What every reader understands: ``\Z`` is Python's, and the format ``duration`` of RFC 3339 has no fractions."""
    match schema:
        case {"format": "duration"}:
            return {"type": "string", "pattern": "^-?P", "description": "An ISO 8601 duration, such as PT3.5S."}
        case dict():
            return {
                name: value.replace("\\Z", "$") if name == "pattern" and isinstance(value, str) else _portable(value)
                for name, value in schema.items()
            }
        case list():
            return [_portable(one) for one in schema]
    return schema
