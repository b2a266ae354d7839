"""Typed parameters of a statement in ``crontick.toml``: ``:name`` in its text, values beside the text."""

import json
import re
from collections.abc import Mapping
from datetime import date, datetime
from typing import Annotated, Any, Final
from uuid import UUID

import msgspec
from msgspec import Meta

from crontick.jobs.kinds.settings import ParameterType
from crontick.jobs.placeholders import outside_literals

__all__ = ["ParameterError", "numbered", "placeholders", "texts"]

_IN_JSON: Final[dict[str, Any]] = {
    "text": str,
    "integer": Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)],
    "number": int | float,
    "boolean": bool,
    "date": date,
    "timestamp": Annotated[datetime, Meta(tz=True)],
    "interval": str,
    "uuid": UUID,
    "json": Any,
}
_IN_SQL: Final = {
    "text": "text",
    "integer": "bigint",
    "number": "numeric",
    "boolean": "boolean",
    "date": "date",
    "timestamp": "timestamptz",
    "interval": "interval",
    "uuid": "uuid",
    "json": "jsonb",
}
# Not the second colon of a cast, and not the bound of a slice.
_PLACEHOLDER: Final = re.compile(r"(?<![:\w\[]):([A-Za-z_]\w*)")


class ParameterError(ValueError):
    """Parameters that a statement does not take; the message names the first, and what it takes."""


def placeholders(statement: str) -> set[str]:
    """The names that the statement's code has as ``:name``."""
    found: set[str] = set()

    def see(code: str) -> str:
        found.update(_PLACEHOLDER.findall(code))
        return code

    outside_literals(statement, see)
    return found


def numbered(statement: str, types: Mapping[str, ParameterType], *, after: int = 0) -> tuple[str, list[str]]:
    """The statement with ``$n`` of its type for each ``:name``, and the names in the order of their numbers."""
    names: list[str] = []

    def number(match: re.Match[str]) -> str:
        name = match[1]
        if name not in types:
            return match[0]
        if name not in names:
            names.append(name)
        return f"${after + names.index(name) + 1}::{_IN_SQL[types[name]]}"

    text = outside_literals(statement, lambda code: _PLACEHOLDER.sub(number, code))
    return text.rstrip().removesuffix(";"), names


def texts(types: Mapping[str, ParameterType], given: Mapping[str, Any]) -> dict[str, str | None]:
    """Each value as PostgreSQL reads it; null is taken by every type. Raises ``ParameterError``."""
    takes = "it takes " + (", ".join(f"{name} ({type_})" for name, type_ in sorted(types.items())) or "none")
    if missing := sorted(types.keys() - given.keys()):
        raise ParameterError(f"parameter {missing[0]} is missing: {takes}")
    if unknown := sorted(given.keys() - types.keys()):
        raise ParameterError(f"there is no parameter {unknown[0][:80]!r}: {takes}")
    return {name: _text(name, types[name], value) for name, value in given.items()}


def _text(name: str, type_: ParameterType, value: Any) -> str | None:
    if value is None:
        return None
    try:
        msgspec.convert(value, _IN_JSON[type_])
    except msgspec.ValidationError as error:
        raise ParameterError(
            f"parameter {name} is not of type {type_}: {str(error)[:1].lower()}{str(error)[1:]}"
        ) from None
    return json.dumps(value) if type_ in ("json", "boolean") else str(value)
