"""One database URL for libpq, out of what other clients accept."""

import os
import re
from typing import Final
from urllib.parse import quote, unquote

# Read by other clients, without meaning here: a tick opens few connections, prepares nothing and names its schema.
IGNORED: Final = frozenset({"pgbouncer", "schema", "connection_limit", "pool_timeout"})
SSL_WORDS: Final = {
    "true": "require",
    "1": "require",
    "on": "require",
    "false": "disable",
    "0": "disable",
    "off": "disable",
}
SSL_MODES: Final = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")

_SCHEME = re.compile(r"(?:postgres|postgresql)(?:\+\w+)?://", re.IGNORECASE)
# As libpq reads it: the user's part ends at the first @ before any slash, so it may hold a question mark.
_TARGET = re.compile(r"(?:[^@/]*@)?[^?]*")
_UNREADABLE: Final = "cannot be read: percent-encode special characters in the user name and the password"


def libpq_url(url: str) -> str:
    """The same database as a URL or connection string that libpq reads.

    SQLAlchemy's ``+driver`` goes; ``ssl`` becomes ``sslmode``; ``pgbouncer``, ``schema``, ``connection_limit`` and
    ``pool_timeout`` are dropped. Raises ``ValueError``, whose text never quotes the URL: it holds a password.
    """
    url = url.strip()
    if "://" not in url:
        return _checked(url)
    scheme = _SCHEME.match(url)
    if scheme is None:
        raise ValueError("must begin with postgresql:// (crontick needs PostgreSQL)")
    target = _TARGET.match(url, scheme.end())
    assert target is not None  # the pattern matches the empty text
    parameters = [_translated(parameter) for parameter in url[target.end() + 1 :].split("&") if parameter]
    query = "&".join(parameter for parameter in parameters if parameter)
    return _checked(f"postgresql://{target[0]}" + (f"?{query}" if query else ""))


def _translated(parameter: str) -> str:
    """The parameter for libpq, or an empty text for one without meaning here."""
    name, _, value = parameter.partition("=")
    if name in IGNORED:
        return ""
    if name == "ssl":
        mode = SSL_WORDS.get(unquote(value).lower(), unquote(value).lower())
        if mode not in SSL_MODES:
            raise ValueError(f"has an ssl that says nothing: write sslmode= and one of {', '.join(SSL_MODES)}")
        return f"sslmode={mode}"
    if not re.fullmatch(r"\w{1,40}", name):
        # Perhaps the rest of a password that holds a question mark: not to be quoted.
        raise ValueError(_UNREADABLE)
    if name not in _libpq_parameters():
        raise ValueError(f"has the parameter {name!r}, which neither libpq nor crontick knows: take it out")
    return f"{name}={quote(unquote(value), safe='')}"


def _libpq_parameters() -> frozenset[str]:
    from psycopg.pq import Conninfo

    return frozenset(option.keyword.decode() for option in Conninfo.get_defaults())


def _checked(conninfo: str) -> str:
    from psycopg import ProgrammingError
    from psycopg.conninfo import conninfo_to_dict

    try:
        conninfo_to_dict(conninfo)
    except (ProgrammingError, UnicodeError):
        # libpq's message quotes the piece that it could not read.
        raise ValueError(_UNREADABLE) from None
    return conninfo


def server_names(url: str) -> str:
    """Host and port of each server that the URL names, as a person may be told: neither user nor password (P36)."""
    from psycopg.conninfo import conninfo_to_dict

    named = conninfo_to_dict(url)
    hosts = str(named.get("host") or named.get("hostaddr") or os.environ.get("PGHOST") or "the local socket").split(",")
    ports = str(named.get("port") or os.environ.get("PGPORT") or 5432).split(",")
    return ", ".join(f"{host}, port {ports[min(nth, len(ports) - 1)]}" for nth, host in enumerate(hosts))
