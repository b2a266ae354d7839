"""What an error says of whom an attempt called, for kinds whose function does not say so itself."""

import socket
import ssl
from typing import Final

from crontick.jobs.outcomes import Target, found
from crontick.jobs.signals import Permanent, Retry

__all__ = ["told_by"]

_NO_ANSWER: Final = frozenset(
    {
        ("httpx", "TransportError"),
        ("requests", "ConnectionError"),
        ("requests", "Timeout"),
        ("aiohttp", "ClientConnectionError"),
        ("urllib3", "TimeoutError"),
        ("urllib3", "ProtocolError"),
        ("aiosmtplib", "SMTPConnectError"),
        ("aiosmtplib", "SMTPServerDisconnected"),
    }
)
"""Libraries are told by name, so that none is imported."""


def told_by(error: BaseException) -> Target:
    """Failed: no connection, no answer in time, an answer that says so. What else went wrong may be our own fault."""
    status = error.status_code if isinstance(error, Permanent | Retry) else _status(error)
    if isinstance(status, int):
        return found(status)
    if isinstance(error, ConnectionError | TimeoutError | socket.gaierror | ssl.SSLError):
        return "failed"
    names = {(base.__module__.split(".")[0], base.__name__) for base in type(error).__mro__}
    return "failed" if names & _NO_ANSWER else "nothing"


def _status(error: BaseException) -> object:
    """Of the answer that httpx and requests keep with the error which they make of it."""
    answer: object = getattr(error, "response", None)
    return getattr(answer, "status_code", None)
