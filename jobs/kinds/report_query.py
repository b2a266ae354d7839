"""A report's query as one part of a run asks it."""

import hashlib
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from crontick.jobs.kinds.parameters import numbered, texts
from crontick.jobs.kinds.settings import STARTED_AT, ParameterType, ReportSettings
from crontick.sql import query

__all__ = ["Asked", "ReportQuery"]


class Asked(msgspec.Struct, frozen=True):
    """A statement and its values, which are never in its text."""

    text: bytes
    values: list[Any]


class ReportQuery:
    """One report with the parameters of one run. Raises ``ParameterError``."""

    def __init__(self, report: ReportSettings, parameters: Mapping[str, Any]) -> None:
        self._report = report
        self._values = texts(report.parameters, parameters)
        self._types: dict[str, ParameterType] = {**report.parameters, STARTED_AT: "timestamp"}

    def digest(self, file_format: str, *, gzip: bool) -> str:
        """What all parts of a run share: parts of two definitions do not make one file."""
        told = [self._report.query, self._report.key, sorted(self._values.items()), file_format, gzip]
        return hashlib.sha256(msgspec.json.encode(told)).hexdigest()

    def rows(self, started_at: datetime, *, after: str | None, limit: int, as_json: bool) -> Asked:
        """The rows behind a key, in its order."""
        columns = "row_to_json(p)::text" if as_json else "p.*"
        asked = self._asked("list_report_rows", started_at, first=(after, limit))
        return Asked(asked.text.replace(b"p.user_columns", columns.encode(), 1), asked.values)

    def row_without_key(self, started_at: datetime) -> Asked:
        """One, if there is any."""
        return self._asked("find_report_null", started_at)

    def estimate(self, started_at: datetime) -> Asked:
        """What the planner expects."""
        return self._asked("estimate_report_rows", started_at)

    def _asked(self, name: str, started_at: datetime, first: tuple[Any, ...] = ()) -> Asked:
        text, names = numbered(self._report.query, self._types, after=len(first))
        key = '"' + self._report.key.replace('"', '""') + '"'
        statement = query(name).text.replace("user_key", key)
        statement = statement.replace("select * from user_query", f"\n{text}\n", 1)
        values = {**self._values, STARTED_AT: started_at.isoformat()}
        return Asked(statement.encode(), [*first, *(values[name] for name in names)])
