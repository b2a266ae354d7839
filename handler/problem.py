"""Errors as RFC 9457 describes them, each of a type that the runbook explains."""

from typing import Final, NamedTuple

import msgspec
from starlette.responses import Response

RUNBOOK: Final = "https://github.com/crontick/crontick/blob/main/docs/runbook.md"


class Type(NamedTuple):
    """A kind of problem: its section of the runbook, its status and its title."""

    anchor: str
    status: int
    title: str


UNAUTHORIZED: Final = Type("unauthorized", 401, "The token is missing or wrong")
TOKEN_IN_URL: Final = Type("token-in-url", 401, "A token must not stand in a URL")
NOT_FOUND: Final = Type("not-found", 404, "There is nothing at this path")
METHOD_NOT_ALLOWED: Final = Type("method-not-allowed", 405, "This path takes another method")
UNREADABLE: Final = Type("unreadable", 400, "The request cannot be read")
NOT_JSON: Final = Type("not-json", 400, "The body is not a JSON object")
OUT_OF_RANGE: Final = Type("out-of-range", 422, "A field is unknown or out of range")
BODY_LATE: Final = Type("body-late", 408, "The body took too long")
BODY_TOO_LARGE: Final = Type("body-too-large", 413, "The body is too large")
BODY_ENCODED: Final = Type("body-encoded", 415, "The body is compressed")
NOT_THERE: Final = Type("not-there", 404, "What was named is not there")
CONFLICT: Final = Type("conflict", 409, "Things are not as they would have to be")
KIND_NOT_OFFERED: Final = Type("kind-not-offered", 403, "This kind is not enqueued over HTTP")
KEY_REUSED: Final = Type("key-reused", 422, "The Idempotency-Key came with another body before")
NO_REPORT: Final = Type("no-report", 404, "There is no such run of a report")
REPORT_NOT_READY: Final = Type("report-not-ready", 409, "The report's file is not finished")
LINK_REFUSED: Final = Type("link-refused", 403, "The link does not open this")
FORM_REFUSED: Final = Type("form-refused", 403, "The form was not sent by this page")
TOO_MANY_ATTEMPTS: Final = Type("too-many-attempts", 429, "Too many wrong secrets")
RANGE: Final = Type("range", 416, "No byte of the file is in that range")
ANSWER_TOO_LARGE: Final = Type("answer-too-large", 413, "The file is too large for one answer of this host")
UNAVAILABLE: Final = Type("unavailable", 503, "No tick can run just now")
FAULT: Final = Type("fault", 500, "crontick itself failed")
TYPES: Final = (
    UNAUTHORIZED,
    TOKEN_IN_URL,
    NOT_FOUND,
    METHOD_NOT_ALLOWED,
    UNREADABLE,
    NOT_JSON,
    OUT_OF_RANGE,
    BODY_LATE,
    BODY_TOO_LARGE,
    BODY_ENCODED,
    NOT_THERE,
    CONFLICT,
    KIND_NOT_OFFERED,
    KEY_REUSED,
    NO_REPORT,
    REPORT_NOT_READY,
    LINK_REFUSED,
    FORM_REFUSED,
    TOO_MANY_ATTEMPTS,
    RANGE,
    ANSWER_TOO_LARGE,
    UNAVAILABLE,
    FAULT,
)


class Problem(Exception):
    """Ends a request with an error; ``detail`` says what to do."""

    def __init__(self, type_: Type, detail: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(detail)
        self.type = type_
        self.detail = detail
        self.headers = headers or {}

    def response(self) -> Response:
        """The answer, with what to do in it."""
        body = {
            "type": f"{RUNBOOK}#{self.type.anchor}",
            "title": self.type.title,
            "status": self.type.status,
            "detail": self.detail,
        }
        return Response(
            msgspec.json.encode(body),
            self.type.status,
            headers={"cache-control": "no-store", **self.headers},
            media_type="application/problem+json",
        )
