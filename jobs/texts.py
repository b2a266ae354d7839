"""Texts of errors, made safe to store and free of what they must not quote."""

import hashlib
import re
import traceback
from collections.abc import Callable
from typing import Final

from crontick.jobs.interrupts import is_ctrl_c

__all__ = ["describe", "fingerprint", "frames", "storable"]

# Patterns are texts, compiled when an error is first described: a cold tick without errors does not pay for them.
_UNSTORABLE: Final = "[\x00\ud800-\udfff]"
_URL: Final = r"(?<![A-Za-z0-9+.-])[A-Za-z0-9+.-]+://(?:[^\s/?#'\"<>]*@)?([^\s/?#'\"<>]*)[^\s'\"<>]*"
"""Begins where a word begins: looked for from every letter of it, a long text takes hours."""
_UUID: Final = r"(?i)\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"
_HEX: Final = r"(?i)\b(?:0x)?(?:[0-9a-f]*\d[0-9a-f]*|[0-9a-f]{8,})\b"
_NUMBER: Final = r"\d+"
_SERVER: Final = r'(?:server at|host name|resolve host) ["\']?([^"\'\s,]+)["\']?(?: \([^)]*\))?(?:, port (\d+))?'

_DATABASES: Final = ("psycopg", "psycopg2", "psycopg_pool", "asyncpg", "sqlalchemy", "django")
_HTTP: Final = ("httpx", "httpcore", "requests", "urllib3", "aiohttp", "urllib")
_CONNECTION_WORDS: Final = (
    "connection refused",
    "timeout expired",
    "connection timeout",
    "password authentication failed",
    "no password supplied",
    "could not translate host name",
    "name or service not known",
    "the database system is starting up",
    "the database system is shutting down",
    "too many clients",
    "too many connections",
    "remaining connection slots are reserved",
    "no pg_hba.conf entry",
    "certificate verify failed",
    "server closed the connection unexpectedly",
    "connection reset by peer",
    "the connection is closed",
    "the connection is lost",
    "no route to host",
    "network is unreachable",
    "does not exist",
)
"""The only words of a connection error that are kept: libpq quotes the DSN, password and all, in the others."""
_DSN_WORDS: Final = (
    "connection info", "connection option", "conninfo", "URI", "percent-encoded", "://", "port number", "separator",
    "end of string reached", 'missing "="', "password",
)  # fmt: skip
"""Of libpq's complaints about a DSN, which quote the part that it could not read."""
_ROW: Final = r"\n(?:DETAIL|CONTEXT|HINT): |\n\[(?:SQL|parameters): "
_ENGINE: Final = r"(?:crontick\.(?!jobs\.kinds\.)|contextlib|asyncio|asgiref)"
_CAUSES: Final = 3
_UNREADABLE: Final = "(its text cannot be read)"


def storable(text: object, *, limit: int) -> str:
    """``text`` as PostgreSQL can store it, at most ``limit`` characters: its head and its tail. Never raises.

    NUL and lone surrogates become U+FFFD; bytes are read as UTF-8.
    """
    try:
        whole = text.decode("utf-8", "replace") if isinstance(text, bytes | bytearray) else _plain(text)
        return re.sub(_UNSTORABLE, "\ufffd", _shortened(whole, limit))
    except BaseException as raised:  # noqa: BLE001 (recording a failure can never fail)
        return _unreadable(raised)[:limit]


def describe(error: BaseException) -> str:
    """``Class: message``, with the causes that it names; never raises.

    Database errors lose DETAIL and CONTEXT, which quote the row; those of a connection become host, port and SQLSTATE;
    HTTP errors name the host only, for the rest of a URL may be a capability.
    """
    try:
        return "; because of ".join(_chain(error))
    except BaseException as raised:  # noqa: BLE001 (recording a failure can never fail)
        return _unreadable(raised)


def frames(error: BaseException) -> str:
    """Where it was raised, as a traceback tells it, from the first frame on that is not of the engine's."""
    trace = error.__traceback__
    while trace is not None and re.match(_ENGINE, str(trace.tb_frame.f_globals.get("__name__"))):
        trace = trace.tb_next
    return "".join(traceback.format_tb(trace)).rstrip()


def fingerprint(said: str) -> str:
    """16 hex digits, the same for texts of errors that differ only in numbers, UUIDs and groups of hex digits."""
    text = said[:2000]
    for varying in (_UUID, _HEX, _NUMBER):
        text = re.sub(varying, "#", text)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def _unreadable(raised: BaseException) -> str:
    """A ``__str__`` of somebody's may raise anything; a Ctrl-C that comes while it runs is none of its doing."""
    if is_ctrl_c(raised):
        raise raised
    return _UNREADABLE


def _plain(text: object) -> str:
    return str.__str__(text) if isinstance(text, str) else str.__str__(str(text))


def _shortened(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    gap = f" … {len(text) - limit} more characters … "
    room = limit - len(gap)
    if room <= 0:
        return text[:limit]
    return text[: room - room // 3] + gap + text[len(text) - room // 3 :]


def _chain(error: BaseException) -> list[str]:
    """The error and what it says to be its cause; a cause that is its own cause ends the chain."""
    said: list[str] = []
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen and len(said) <= _CAUSES:
        seen.add(id(current))
        said.append(_one(current))
        current = None if _library(current) in _DATABASES else current.__cause__
    return said


def _one(error: BaseException) -> str:
    name, library = type(error).__name__, _library(error)
    tell: Callable[[BaseException], str] = _said
    if library in _DATABASES:
        tell = _of_database
    elif library in _HTTP:
        tell = _of_http
    try:
        message = tell(error)
        if isinstance(error, BaseExceptionGroup):
            message += ": " + ", ".join(_one(part) for part in error.exceptions[:_CAUSES])
    except BaseException as raised:  # noqa: BLE001 (a text of somebody's own class)
        message = _unreadable(raised)
    return f"{name}: {message}" if message else name


def _library(error: BaseException) -> str:
    """The library that this error comes from, told by name so that none is imported; a subclass of theirs is theirs."""
    for base in type(error).__mro__:
        top = base.__module__.partition(".")[0]
        if top in _DATABASES or top in _HTTP:
            return top
    return ""


def _said(error: BaseException) -> str:
    return _plain(error)


def _of_http(error: BaseException) -> str:
    answer = getattr(error, "response", None)
    status = getattr(answer, "status_code", None)
    host = _host(error)
    if isinstance(status, int):
        return f"{status} from {host}" if host else f"{status}"
    text = re.sub(_URL, r"\1", _said(error)).partition(" with url:")[0]
    if not host:
        return text
    return f"{host}: {text}" if text and host not in text else text or host


def _host(error: BaseException) -> str:
    try:
        return str(error.request.url.host)  # type: ignore[attr-defined]
    except (AttributeError, RuntimeError):  # httpx raises when the error was made without a request
        return ""


def _of_database(error: BaseException) -> str:
    original = getattr(error, "orig", None) or error.__cause__
    if isinstance(original, BaseException) and original is not error and _library(original) in _DATABASES:
        return _one(original)
    state = getattr(error, "sqlstate", None) or getattr(error, "pgcode", None)
    primary = getattr(getattr(error, "diag", None), "message_primary", None)
    text = _said(error)
    if not primary and type(error).__name__ in ("OperationalError", "ConnectionTimeout", "PoolTimeout"):
        return _of_connection(text, state)
    if not primary:
        quotes_dsn = any(word in text for word in _DSN_WORDS)
        primary = "the connection string cannot be read" if quotes_dsn else re.split(_ROW, text)[0]
    return f"{state} {primary}" if state else primary


def _of_connection(text: str, state: object) -> str:
    low = text.lower()
    word = next((word for word in _CONNECTION_WORDS if word in low), "")
    server = re.search(_SERVER, text)
    parts = ["no connection"]
    if server and "@" not in server[1] and "=" not in server[1]:
        parts.append(f"to {server[1]}" + (f" port {server[2]}" if server[2] else ""))
    parts += [f"({state})"] if state else []
    return " ".join(parts) + (f": {word}" if word else "")
