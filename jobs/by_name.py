"""What payloads of the kinds that ship name: a report, a statement or an endpoint that has to be there."""

from collections.abc import Collection, Iterable
from datetime import timedelta
from typing import Final, Protocol, TypeVar

import msgspec

from crontick.jobs.context import Context
from crontick.jobs.fit import suggestion
from crontick.jobs.sections import Config
from crontick.jobs.signals import Permanent, Retry

__all__ = ["found_by_name", "missing_name"]

_AFTER_A_DEPLOY: Final = timedelta(minutes=5)


class _Named(Protocol):
    @property
    def name(self) -> str: ...


T = TypeVar("T", bound=_Named)


def found_by_name(known: Iterable[T], name: str, section: str, ctx: Context) -> T:
    """The one of that name. Else the job is tried once more, when a rolling deploy has ended, as a misfit is (P14)."""
    named = {one.name: one for one in known}
    if name in named:
        return named[name]
    said, detail = f"crontick.toml has no such [[{section}]]", f"{name[:80]}{suggestion(name, named)}"
    if ctx.attempt > 1:
        raise Permanent(said, detail=detail)
    raise Retry(said, after=_AFTER_A_DEPLOY, detail=detail)


class _Names(msgspec.Struct, frozen=True):
    report: str | None = None
    job: str | None = None
    endpoint: str | None = None


def missing_name(config: Config, kind: str, payload: str, endpoints: Collection[str] | None) -> str | None:
    """A sentence where the payload of a kind that ships names what is not there.

    ``endpoints`` are those that the database has; None: nobody asked it, and those of payloads are not judged.
    """
    try:
        named = msgspec.json.decode(payload, type=_Names)
    except msgspec.MsgspecError:
        return None  # what its kind says of such a payload is told as well
    match kind:
        case "generate_report":
            return _missing(named.report, "[[report]]", [report.name for report in config.report])
        case "run_sql":
            return _missing(named.job, "[[sql_job]]", [job.name for job in config.sql_job])
        case "deliver_webhook" if endpoints is not None:
            known = {endpoint.name for endpoint in config.webhook_endpoint}.union(endpoints)
            return _missing(named.endpoint, "endpoint", known)
    return None


def _missing(name: str | None, what: str, known: Collection[str]) -> str | None:
    if name is None or name in known:
        return None
    return f"there is no {what} {name[:80]}{suggestion(name, known) or ': declare it, or mend the name'}"
