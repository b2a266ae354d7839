"""The HTTP door on Lambda: an event becomes a request of the application, its answer what the platform expects."""

from collections.abc import Mapping
from typing import Any, Final

from mangum import Mangum
from mangum.adapter import DEFAULT_TEXT_MIME_TYPES
from mangum.types import ASGI
from starlette.types import ASGIApp, Receive, Scope, Send

from crontick.handler.app import with_problems
from crontick.handler.problem import UNREADABLE, Problem
from crontick.jobs.unavailable import Unavailable

__all__ = ["answer", "misconfigured"]

# An answer of another type than these goes out in base64, which an ALB or a person's curl shows as it is.
TEXTS: Final = [*DEFAULT_TEXT_MIME_TYPES, "application/problem+json"]


def answer(app: ASGIApp, event: Mapping[str, Any], context: Any, *, stage: str | None) -> dict[str, Any]:
    """What the platform turns into an HTTP response. The caller has made its loop the current one.

    ``stage``: API Gateway begins the path with it where it has a name.
    """
    mangum = Mangum(
        _behind_a_proxy(app), lifespan="off", api_gateway_base_path=f"/{stage or ''}", text_mime_types=TEXTS
    )
    try:
        return mangum(dict(event), context)
    except (ValueError, LookupError, TypeError, AttributeError):
        # Of the application nothing is raised: the event is no request, for example by its Host header.
        return _refused(Problem(UNREADABLE, "the request cannot be read: look at its Host header and its body"))


def _refused(problem: Problem) -> dict[str, Any]:
    """An answer that every one of the platform's doors takes."""
    response = problem.response()
    headers = dict(response.headers)
    return {
        "statusCode": response.status_code,
        "headers": headers,
        "multiValueHeaders": {name: [value] for name, value in headers.items()},
        "body": bytes(response.body).decode(),
        "isBase64Encoded": False,
    }


@with_problems
async def misconfigured(_scope: Scope, _receive: Receive, _send: Send) -> None:
    """Stands in for an application that cannot be made. Anybody may read this: what is wrong stands in the log."""
    raise Unavailable(
        "this deployment's configuration is wrong, so that no tick can run: the function's log says what to mend,"
        " and so does an invocation with {}",
        retry_after_seconds=60,
    )


def _behind_a_proxy(app: ASGIApp) -> ASGI:
    """No connection is ours to be closed: a `connection` header is for HTTP/1 alone."""

    async def proxied(scope: Scope, receive: Receive, send: Send) -> None:
        await app({**scope, "http_version": "2"}, receive, send)

    return proxied
