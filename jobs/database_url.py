"""One database URL for libpq, out of what other clients accept."""

import os
import re
from typing import Final
from urllib.parse import quote, unquote

from crontick.jobs.foreign_urls import described, unfilled

# Read by other clients, without meaning here: a tick opens few connections, prepares nothing and names its schema.
IGNORED: Final = frozenset(
    {
        # Prisma
        "schema",
        "pgbouncer",
        "connection_limit",
        "pool_timeout",
        "socket_timeout",
        "max_connection_lifetime",
        "max_idle_connection_lifetime",
        # asyncpg
        "statement_cache_size",
        "prepared_statement_cache_size",
        "command_timeout",
        # Rails
        "pool",
        "prepared_statements",
        "encoding",
        # SQLAlchemy and Ecto
        "pool_size",
        "max_overflow",
        # Django
        "conn_max_age",
        "conn_health_checks",
        "disable_server_side_cursors",
        # pgx
        "pool_max_conns",
        "pool_min_conns",
        "pool_max_conn_lifetime",
        "pool_max_conn_idle_time",
        "default_query_exec_mode",
        # lib/pq, node-postgres, Supabase's integrations
        "binary_parameters",
        "uselibpqcompat",
        "supa",
    }
)
SSL_WORDS: Final = {
    "true": "require",
    "1": "require",
    "on": "require",
    "false": "disable",
    "0": "disable",
    "off": "disable",
    "no-verify": "require",
}
SSL_MODES: Final = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")

_SCHEME = re.compile(r"(?:postgres|postgresql|postgis|pgsql|psql)(?:\+\w+)?://", re.IGNORECASE)
# The user's part ends at the last @ before any slash, as browsers, Node and Python read it: it may hold an @ or a
# question mark, which libpq, for which the first @ ends it, needs percent-encoded.
_TARGET = re.compile(r"(?:([^/]*)@)?([^/?]*)(/[^?]*)?")
_PORTS = re.compile(r"(?:\[[^\]]*\]|[^:\[\]]*)(?::(?:[0-9]{1,5})?)?")
_KEPT: Final = ":%!$&'()*+,;=~"
"""What may stand in the user's part as it is; an existing percent sign begins an escape already."""
_UNREADABLE: Final = "cannot be read: percent-encode special characters in the user name and the password"


def libpq_url(url: str) -> str:
    """The same database as a URL or connection string that libpq reads.

    SQLAlchemy's ``+driver`` goes; ``ssl`` becomes ``sslmode``; what other clients say to their pools is dropped. Raises
    ``ValueError``, whose text never quotes the URL: it holds a password.
    """
    url = url.strip()
    if url[:1] in ("'", '"') and url[-1:] == url[:1]:
        url = url[1:-1].strip()
    if not url:
        raise ValueError("is empty")
    if unfilled(url):
        raise ValueError(
            "has a placeholder in it that nothing filled in, such as [YOUR-PASSWORD]: write what it is for"
        )
    scheme = _SCHEME.match(url)
    if scheme is None:
        return _checked(url, described(url))
    target = _TARGET.match(url, scheme.end())
    assert target is not None  # the pattern matches the empty text
    user, hosts, path = target.group(1, 2, 3)
    if "@" in (path or "") or not all(_PORTS.fullmatch(host) for host in hosts.split(",")):
        # A slash in the password: libpq would look for a host called as the user.
        raise ValueError(_UNREADABLE)
    parameters = [_translated(parameter) for parameter in url[target.end() + 1 :].split("&") if parameter]
    if sum(parameter.startswith("host=") for parameter in parameters) > 1:
        raise ValueError("names host more than once: write all in one, host=first,second")
    query = "&".join(parameter for parameter in parameters if parameter)
    before = "" if user is None else f"{quote(user, safe=_KEPT)}@"
    return _checked(f"postgresql://{before}{hosts}{path or ''}" + (f"?{query}" if query else ""), _UNREADABLE)


def password(url: str) -> str | None:
    """The password in what ``libpq_url`` gave, as it is: no redactor could find it in keywords and values."""
    from psycopg.conninfo import conninfo_to_dict

    found = conninfo_to_dict(url).get("password")
    return None if found is None else str(found)


def _translated(parameter: str) -> str:
    """The parameter for libpq, or an empty text for one without meaning here."""
    name, _, value = parameter.partition("=")
    value = unquote(value)
    if name in IGNORED or (name, value) == ("sslaccept", "accept_invalid_certs"):
        return ""
    if name in ("ssl", "sslmode"):
        mode = SSL_WORDS.get(value.lower(), value.lower())
        if mode not in SSL_MODES:
            raise ValueError(f"has an {name} that says nothing: write sslmode= and one of {', '.join(SSL_MODES)}")
        return f"sslmode={mode}"
    if name == "sslaccept":
        raise ValueError(
            "has the parameter 'sslaccept': write sslmode=verify-full and sslrootcert= with a file instead"
        )
    if not re.fullmatch(r"\w{1,40}", name):
        # Perhaps the rest of a password that holds a question mark: not to be quoted.
        raise ValueError(_UNREADABLE)
    if name not in _libpq_parameters():
        raise ValueError(f"has the parameter {name!r}, which neither libpq nor crontick knows: take it out")
    return f"{name}={quote(value, safe='')}"


def _libpq_parameters() -> frozenset[str]:
    from psycopg.pq import Conninfo

    return frozenset(option.keyword.decode() for option in Conninfo.get_defaults())


def _checked(conninfo: str, otherwise: str) -> str:
    from psycopg import ProgrammingError
    from psycopg.conninfo import conninfo_to_dict

    try:
        conninfo_to_dict(conninfo)
    except (ProgrammingError, UnicodeError):
        # libpq's message quotes the piece that it could not read.
        raise ValueError(otherwise) from None
    return conninfo


def server_names(url: str) -> str:
    """Host and port of each server that the URL names, as a person may be told: neither user nor password (P36)."""
    from psycopg.conninfo import conninfo_to_dict

    named = conninfo_to_dict(url)
    hosts = str(named.get("host") or named.get("hostaddr") or os.environ.get("PGHOST") or "the local socket").split(",")
    ports = str(named.get("port") or os.environ.get("PGPORT") or 5432).split(",")
    return ", ".join(f"{host}, port {ports[min(nth, len(ports) - 1)]}" for nth, host in enumerate(hosts))
