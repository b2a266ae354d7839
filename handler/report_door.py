"""The doors of reports: how far a run is, and its file."""

from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from typing import Any, Final

import msgspec
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from crontick.handler.auth import ADMIN_SECRET, admit, digests
from crontick.handler.byte_range import Unsatisfiable, asked_range
from crontick.handler.problem import (
    ANSWER_TOO_LARGE,
    LINK_REFUSED,
    METHOD_NOT_ALLOWED,
    NO_REPORT,
    RANGE,
    REPORT_NOT_READY,
    Problem,
)
from crontick.jobs.settings import Settings
from crontick.jobs.unavailable import Unavailable

_TYPES: Final = {"csv": "text/csv; charset=utf-8", "jsonl": "application/jsonl"}
_LARGEST_ID: Final = 2**63 - 1


class ReportDoor:
    """``GET /api/reports/{run}``, for the admin's token or a signed link, to which no error's text is told (P31)."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._digests = digests(settings.admin_secrets)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with the run as it is."""
        from crontick.jobs.links import FILE_PATH, PROGRESS_PATH
        from crontick.jobs.report_files import opened

        by_link = _admit(scope, PROGRESS_PATH, self._settings, self._digests)
        _only_get(scope)
        async with opened(self._settings.database_url) as conn:
            run = await _found(conn, scope["path_params"]["run"])
        told = msgspec.structs.asdict(run)
        if by_link:
            del told["last_error"]
        path = FILE_PATH.format(run=run.id)
        told["download"] = f"{self._settings.prefix or ''}{path}" if run.status == "succeeded" else None
        body = msgspec.json.encode(told)
        headers = {"cache-control": "no-store"}
        await Response(body, headers=headers, media_type="application/json")(scope, receive, send)


class FileDoor:
    """``GET /api/reports/{run}/download``, for the admin's token or a signed link.

    ``answer_bytes`` is the most that the host lets one answer have; None where there is no such limit.
    """

    def __init__(self, settings: Settings, *, answer_bytes: int | None) -> None:
        self._settings = settings
        self._digests = digests(settings.admin_secrets)
        self._answer_bytes = answer_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Stream the file, or the range of it that was asked for."""
        from crontick.jobs.links import FILE_PATH
        from crontick.jobs.report_files import opened, pieces

        _admit(scope, FILE_PATH, self._settings, self._digests)
        _only_get(scope)
        async with opened(self._settings.database_url) as conn:
            run = await _found(conn, scope["path_params"]["run"])
        if run.status != "succeeded":
            raise Problem(REPORT_NOT_READY, _not_ready(run.status), {"retry-after": "30"})
        answer = _Answer(run, Headers(scope=scope), self._answer_bytes)
        if scope["method"] == "HEAD" or not answer.has_body:
            await Response(status_code=answer.status, headers=answer.headers)(scope, receive, send)
            return
        content = _whole(pieces(self._settings.database_url, run.id, answer.first, answer.last))
        with suppress(ClientDisconnect):
            await StreamingResponse(content, answer.status, answer.headers)(scope, receive, send)


def _admit(scope: Scope, path: str, settings: Settings, accepted: Sequence[bytes]) -> bool:
    """Whether a link opened it, and not the admin's token."""
    if b"signature=" not in scope["query_string"]:
        admit(scope, accepted, ADMIN_SECRET)
        return False
    from crontick.jobs.links import LinkError, check_link

    query = scope["query_string"].decode("latin-1")
    try:
        check_link(settings.signing_secrets, path.format(run=scope["path_params"]["run"]), query)
    except (LinkError, ValueError) as error:
        said = str(error) if isinstance(error, LinkError) else "the link is not whole: copy all of it"
        raise Problem(LINK_REFUSED, said) from None
    return True


class _Answer:
    """Which bytes go out, under which status and headers."""

    def __init__(self, run: Any, asked: Headers, most: int | None) -> None:
        size = run.byte_count
        # A finished file never changes, and its run's number is never given again.
        etag = f'"{run.id}-{run.parts}-{size}"'
        self.first, self.last, self.status = 0, size - 1, 200
        if etag in asked.get("if-none-match", "") or asked.get("if-none-match", "").strip() == "*":
            self.status = 304
        elif asked.get("if-range", etag) == etag and (ranged := _range(asked, size)) is not None:
            self.status = 206
            self.first, self.last = ranged
            if most is not None:
                # A server may answer with less than was asked for: whoever reads on asks for the rest.
                self.last = min(self.last, self.first + most - 1)
        elif most is not None and size > most:
            raise Problem(
                ANSWER_TOO_LARGE,
                f"this host takes {most} bytes an answer, and the file has {size}: ask for ranges, each with"
                " `Range: bytes=FIRST-LAST`, or use `crontick report download`",
            )
        self.has_body = self.status != 304 and size > 0
        self.headers = {
            "content-type": "application/gzip" if run.gzip else _TYPES[run.format],
            "content-disposition": f'attachment; filename="{run.file_name}"',
            "cache-control": "no-store",
            "x-content-type-options": "nosniff",
            "accept-ranges": "bytes",
            "etag": etag,
        }
        if self.status != 304:
            self.headers["content-length"] = str(self.last - self.first + 1)
        if self.status == 206:
            self.headers["content-range"] = f"bytes {self.first}-{self.last}/{size}"


class BrokenOff(Exception):
    """The file cannot be read on, and half of it has gone out: only the end of the connection can say so."""


async def _whole(content: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    try:
        async for piece in content:
            yield piece
    except (Unavailable, LookupError) as error:
        raise BrokenOff(type(error).__name__) from None


def _range(asked: Headers, size: int) -> tuple[int, int] | None:
    try:
        return asked_range(asked.get("range", ""), size)
    except Unsatisfiable:
        raise Problem(
            RANGE, f"the file has {size} bytes, and none of them is in that range", {"content-range": f"bytes */{size}"}
        ) from None


async def _found(conn: Any, run: int) -> Any:
    from crontick.jobs.report_files import read_run

    found = await read_run(conn, run) if run <= _LARGEST_ID else None
    if found is None:
        raise Problem(NO_REPORT, "there is no such run, or none any more: [retention] reports says how long they stay")
    return found


def _not_ready(status: str) -> str:
    if status in ("queued", "running"):
        return f"the run is {status}: its file is there when it has succeeded"
    return f"the run has {status}: its file will never be whole; enqueue the report again, or requeue its dead job"


def _only_get(scope: Scope) -> None:
    if Request(scope).method not in ("GET", "HEAD"):
        raise Problem(METHOD_NOT_ALLOWED, "this path is read with GET", {"allow": "GET, HEAD"})
