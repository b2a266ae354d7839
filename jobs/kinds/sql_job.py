"""``[[sql_job]]``: a statement that ``run_sql`` runs by its name, with ``:name`` for each of its parameters."""

import re
from datetime import timedelta
from typing import Final

import msgspec

from crontick.jobs.durations import Seconds
from crontick.jobs.kinds.settings import ParameterType, Text
from crontick.jobs.request import Name

__all__ = ["SqlJob"]

_ALONE: Final = r"(?i)\s*(abort|begin|commit|end|prepare|release|rollback|savepoint|start|vacuum)\b"
"""What begins or ends a transaction, or has to be outside one."""


class SqlJob(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One of them; every parameter has its type."""

    name: Name
    statement: Text
    parameters: dict[str, ParameterType] = {}
    timeout: Seconds | None = None

    def __post_init__(self) -> None:
        from crontick.jobs.kinds.parameters import placeholders

        if re.match(_ALONE, self.statement):
            raise ValueError("statement runs in a transaction with its job's end, and cannot begin, end or refuse one")
        used = placeholders(self.statement)
        for name in sorted(used - self.parameters.keys()):
            raise ValueError(f"statement has :{name}, and parameters has no {name}")
        for name in sorted(self.parameters.keys() - used):
            raise ValueError(f"parameters has {name}, and statement has no :{name}")
        if self.timeout is not None and not timedelta(0) < self.timeout <= timedelta(seconds=900):
            raise ValueError("timeout must be longer than nothing and at most 900 s, the longest tick")
