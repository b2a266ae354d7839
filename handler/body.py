"""The small body that a caller may send, read with a limit on its size and on its time."""

import asyncio
from typing import Final

from starlette.types import Receive, Scope

from crontick.handler.problem import BODY_ENCODED, BODY_LATE, BODY_TOO_LARGE, Problem

BYTES_AT_MOST: Final = 4096
PATIENCE_SECONDS: Final = 5.0


class HungUp(Exception):
    """The caller went away before its request was whole: nobody is there to be answered."""


async def read_body(
    scope: Scope, receive: Receive, *, patience_seconds: float = PATIENCE_SECONDS, bytes_at_most: int = BYTES_AT_MOST
) -> bytes:
    """The whole body; raises ``Problem`` 408, 413 or 415, and ``HungUp``.

    The limit holds while reading, whatever Content-Length said or left out.
    """
    for name, value in scope["headers"]:
        if name == b"content-encoding" and value.strip().lower() != b"identity":
            raise Problem(BODY_ENCODED, "send the body as it is, without Content-Encoding")
        if name == b"content-length" and _announced(value) > bytes_at_most:
            raise _too_large(bytes_at_most)
    try:
        async with asyncio.timeout(patience_seconds):
            return await _read(receive, bytes_at_most)
    except TimeoutError:
        detail = f"the body was not there after {patience_seconds:g} seconds: send it at once, or send none"
        raise Problem(BODY_LATE, detail) from None


async def _read(receive: Receive, bytes_at_most: int) -> bytes:
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise HungUp
        body += message.get("body", b"")
        if len(body) > bytes_at_most:
            raise _too_large(bytes_at_most)
        if not message.get("more_body", False):
            return bytes(body)


def _announced(content_length: bytes) -> int:
    """The length as announced; what is no number is left to the count while reading."""
    return int(content_length) if content_length.isdigit() and len(content_length) < 20 else 0


def _too_large(bytes_at_most: int) -> Problem:
    said = "a tick needs few words, or none" if bytes_at_most == BYTES_AT_MOST else "send less at once"
    return Problem(BODY_TOO_LARGE, f"the body may have {bytes_at_most} bytes: {said}")
