"""Why no tick can run just now, and when to call again."""

from typing import Final

__all__ = ["Unavailable", "refused_login", "unavailable"]

_MISSING_SCHEMA: Final = frozenset({"3F000", "42883", "42P01", "42703"})
_REFUSED_LOGINS: Final = (
    (("password authentication failed",), "the database refuses the role or its password: see CRONTICK_DATABASE_URL"),
    (("no password supplied",), "the database asks for a password: put it into CRONTICK_DATABASE_URL"),
    (
        ("no pg_hba.conf entry",),
        "the database's pg_hba.conf does not let this role in: add it there, or sslmode=require to the URL",
    ),
    (('role "', "is not permitted to log in"), "the database role has no login: use one that is a member of it"),
    (("permission denied for database",), "the database role may not connect: grant it connect on the database"),
    (('role "', '" does not exist'), "the database has no such role: create it, or see CRONTICK_DATABASE_URL"),
    (('database "', '" does not exist'), "the server has no such database: create it, or see CRONTICK_DATABASE_URL"),
)
"""Errors of a login have no SQLSTATE in libpq, so that all there is to tell them by is text; each waits in vain."""


class Unavailable(Exception):
    """The database is out of reach or waking, or schema and code disagree.

    ``ran`` says whether that came after jobs were claimed, whose functions may have run; ``reason`` is a sentence in
    crontick's own words, without the database's text (P31); ``out_of_reach`` is true of a database that did not answer.
    """

    def __init__(self, reason: str, *, retry_after_seconds: int = 30, out_of_reach: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.ran = False
        self.out_of_reach = out_of_reach
        self.retry_after_seconds = retry_after_seconds

    @property
    def sentence(self) -> str:
        """The reason, and what it means for the jobs."""
        meant = "the jobs that ran are settled or retried" if self.ran else "nothing ran and nothing was lost"
        return f"{self.reason}; {meant}"


def refused_login(error: BaseException) -> str | None:
    """Why the database lets nobody in, in crontick's own words; None for whatever waiting may mend."""
    state = getattr(error, "sqlstate", None) or ""
    if state.startswith("28"):
        return _REFUSED_LOGINS[0][1]
    if state.startswith("3D"):
        return _REFUSED_LOGINS[-1][1]
    if state:
        return None
    text = str(error)
    return next((why for words, why in _REFUSED_LOGINS if all(word in text for word in words)), None)


def unavailable(error: BaseException) -> Unavailable:
    """In crontick's own words: what libpq says quotes the URL with its password (P31, P36)."""
    if (refused := refused_login(error)) is not None:
        return Unavailable(refused)
    state = getattr(error, "sqlstate", None)
    match state:
        case "CT503":
            diag = getattr(error, "diag", None)
            return Unavailable(f"{diag.message_primary}: {diag.message_hint}" if diag else "schema and code disagree")
        case str() if state in _MISSING_SCHEMA:
            return Unavailable("the database has no schema crontick, or not all of it: run `crontick migrate`")
        case "42501":
            return Unavailable("the database role may not run ticks: grant it crontick_tick (docs: roles)")
        case "25006":
            return Unavailable(
                "the database is read-only, perhaps after a failover: give the primary's URL", retry_after_seconds=15
            )
        case "53300":
            return Unavailable(
                "the database has no connection left: allow it more, or lower CRONTICK_MAX_PARALLEL_TICKS",
                retry_after_seconds=15,
            )
        case str() if not state.startswith(("08", "57")):
            return Unavailable(f"the database refused a statement (SQLSTATE {state}): its own log says why")
    if any(word in str(error) for word in ("certificate", "not support SSL")):
        return Unavailable("TLS with the database fails: see sslmode and sslrootcert in CRONTICK_DATABASE_URL")
    return Unavailable("the database is out of reach, or waking", retry_after_seconds=15, out_of_reach=True)
