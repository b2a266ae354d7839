"""The routes that have doors of their own, as the OpenAPI document tells of them."""

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from crontick.jobs.settings import Settings

_RUN: Final = {
    "name": "run",
    "in": "path",
    "required": True,
    "schema": {"type": "integer", "minimum": 1, "maximum": 2**63 - 1},
}
_EXPIRES: Final = {"name": "expires", "in": "query", "schema": {"type": "integer"}, "description": "a link's end"}
_STATUS: Final = {"type": "object", "properties": {"status": {"type": "string"}}, "required": ["status"]}
_SUMMARY: Final = {
    "type": "object",
    "description": "What the tick did; ran is false where it was let in and ran nothing, and reason says why.",
    "properties": {"ran": {"type": "boolean"}, "trigger": {"type": "string"}},
    "required": ["ran", "trigger"],
}


class Other(NamedTuple):
    """One method of one path: who may call it, what it answers, and whether it exists with these settings."""

    method: str
    path: str
    name: str
    says: str
    secrets: tuple[str, ...]
    exists: Callable[[Settings], bool]
    answers: Mapping[str, Any]
    refusals: tuple[int, ...]
    parameters: tuple[Mapping[str, Any], ...] = ()
    statuses: tuple[int, ...] = (200,)
    bodiless: Mapping[int, str] = {}
    asked: str | None = None
    at_root: bool = False


def _tick(path: str, name: str, method: str = "POST") -> Other:
    return Other(
        *(method, path, name, "One tick: run what is due, within its budget.", ("cron",)),
        exists=lambda settings: bool(settings.cron_secrets) and (method == "POST" or settings.allow_get),
        answers={"application/json": _SUMMARY},
        refusals=(400, 401, 408, 413, 415, 422, 500, 503),
        asked="TickRequest" if method == "POST" else None,
        at_root=True,
    )


OTHERS: Final = (
    _tick("/cron/tick", "tick"),
    _tick("/api/cron/tick", "tick_under_api"),
    _tick("/cron/tick", "tick_by_get", "GET"),
    _tick("/api/cron/tick", "tick_under_api_by_get", "GET"),
    Other(
        *("GET", "/healthz", "alive", "The process is up; touches no database.", ()),
        exists=lambda _: True,
        answers={"application/json": _STATUS},
        refusals=(500,),
    ),
    Other(
        *("GET", "/readyz", "ready", "A tick could run.", ("cron", "admin")),
        exists=lambda settings: bool(settings.cron_secrets or settings.admin_secrets),
        answers={"application/json": _STATUS},
        refusals=(401, 500, 503),
    ),
    Other(
        *("GET", "/metrics", "metrics", "Gauges for Prometheus; each call reads the database.", ("admin",)),
        exists=lambda settings: bool(settings.admin_secrets),
        answers={"text/plain": {"type": "string"}},
        refusals=(401, 500, 503),
    ),
    Other(
        *("GET", "/openapi.json", "openapi", "This document.", ()),
        exists=lambda _: True,
        answers={"application/json": {"type": "object"}},
        refusals=(500,),
    ),
    Other(
        *("GET", "/api/reports/{run}", "read_report", "How far a report is.", ("admin", "link")),
        exists=lambda settings: bool(settings.admin_secrets or settings.signing_secrets),
        answers={"application/json": "Report"},
        refusals=(401, 403, 404, 500, 503),
        parameters=(_RUN, _EXPIRES),
    ),
    Other(
        *("GET", "/api/reports/{run}/download", "download_report", "A report's file, or a range of it."),
        secrets=("admin", "link"),
        exists=lambda settings: bool(settings.admin_secrets or settings.signing_secrets),
        answers={"text/csv": {}, "application/jsonl": {}, "application/gzip": {}},
        refusals=(401, 403, 404, 409, 413, 416, 500, 503),
        parameters=(_RUN, _EXPIRES),
        statuses=(200, 206),
        bodiless={304: "The file has not changed."},
    ),
)
