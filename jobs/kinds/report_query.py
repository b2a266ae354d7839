"""A report's query as one part of a run asks it."""

import hashlib
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from crontick.jobs.kinds.parameters import numbered, texts
from crontick.jobs.kinds.settings import STARTED_AT, ParameterType, ReportSettings
from crontick.sql import query

__all__ = ["Asked", "ReportQuery", "rows_statement"]


class Asked(msgspec.Struct, frozen=True):
    """A statement and its values, which are never in its text."""

    text: bytes
    values: list[Any]


class ReportQuery:
    """One report with the parameters of one run. Raises ``ParameterError``."""

    def __init__(self, report: ReportSettings, parameters: Mapping[str, Any]) -> None:
        self._report = report
        self._values = texts(report.parameters, parameters)

    def digest(self, file_format: str, *, gzip: bool) -> str:
        """What all parts of a run share: parts of two definitions do not make one file."""
        told = [self._report.query, self._report.key, sorted(self._values.items()), file_format, gzip]
        return hashlib.sha256(msgspec.json.encode(told)).hexdigest()

    def rows(self, started_at: datetime, *, after: str | None, limit: int, as_json: bool) -> Asked:
        """The rows behind a key, in its order."""
        text, names = rows_statement(self._report, as_json=as_json)
        return self._asked(text, [after, limit], names, started_at)

    def row_without_key(self, started_at: datetime) -> Asked:
        """One, if there is any."""
        return self._asked(*_filled("find_report_null", self._report, []), started_at)

    def estimate(self, started_at: datetime) -> Asked:
        """What the planner expects."""
        return self._asked(*_filled("estimate_report_rows", self._report, []), started_at)

    def _asked(self, text: str, first: list[Any], names: list[str], started_at: datetime) -> Asked:
        values = {**self._values, STARTED_AT: started_at.isoformat()}
        return Asked(text.encode(), [*first, *(values[name] for name in names)])


def rows_statement(report: ReportSettings, *, as_json: bool = False) -> tuple[str, list[str]]:
    """The statement of a part, whose first parameters are the key before and the limit, and the names of the others."""
    text, _, names = _filled("list_report_rows", report, [None, None])
    return text.replace("p.user_columns", "row_to_json(p)::text" if as_json else "p.*", 1), names


def _filled(name: str, report: ReportSettings, first: list[Any]) -> tuple[str, list[Any], list[str]]:
    types: dict[str, ParameterType] = {**report.parameters, STARTED_AT: "timestamp"}
    asked, names = numbered(report.query, types, after=len(first))
    key = '"' + report.key.replace('"', '""') + '"'
    statement = query(name).text.replace("user_key", key)
    return statement.replace("select * from user_query", f"\n{asked}\n", 1), first, names
