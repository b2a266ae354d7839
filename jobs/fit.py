"""Fits data read from a file to a type, collecting every fault with its path instead of stopping at the first."""

import re
from collections.abc import Iterable
from datetime import timedelta
from difflib import get_close_matches
from typing import Any, NamedTuple, TypeVar

import msgspec
from msgspec import inspect

from crontick.jobs.durations import duration
from crontick.jobs.toml_lines import Path

S = TypeVar("S", bound=msgspec.Struct)


class Fault(NamedTuple):
    """What is wrong, and where."""

    path: Path
    sentence: str


def fit(given: dict[str, Any], wanted: type[S], at: Path, faults: list[Fault]) -> S | None:
    """The struct, or None when ``faults`` has grown."""
    before = len(faults)
    readable = _readable(given, inspect.type_info(wanted), at, faults)
    for name, value in readable.items():
        if fault := _fault({name: value}, wanted, at, field=name):
            faults.append(fault)
    if len(faults) == before and (fault := _fault(readable, wanted, at)):
        faults.append(fault)
    return msgspec.convert(readable, wanted) if len(faults) == before else None


def suggestion(name: str, known: Iterable[str]) -> str:
    """`` (did you mean …?)`` where a known name is close, else nothing."""
    close = get_close_matches(name, list(known), n=1)
    return f" (did you mean {close[0]}?)" if close else ""


def _readable(given: Any, wanted: inspect.Type, at: Path, faults: list[Fault]) -> Any:
    """The data with its lengths of time read and the names that nobody knows told and taken out."""
    match wanted, given:
        case inspect.UnionType(), _:
            for arm in wanted.types:
                if isinstance(arm, _TAKES.get(type(given), ())):
                    return _readable(given, arm, at, faults)
        case inspect.StructType(), dict():
            fields = {field.encode_name: field.type for field in wanted.fields}
            for name in given.keys() - fields.keys():
                faults.append(Fault((*at, name), f"there is no {name}{suggestion(name, fields)}"))
            known = given.items() if given.keys() <= fields.keys() else [kv for kv in given.items() if kv[0] in fields]
            return {name: _readable(value, fields[name], (*at, name), faults) for name, value in known}
        case ((inspect.ListType() | inspect.VarTupleType()), list()):
            return [_readable(value, wanted.item_type, (*at, nth), faults) for nth, value in enumerate(given)]
        case inspect.TimeDeltaType(), str():
            try:
                return duration(given)
            except ValueError as error:
                faults.append(Fault(at, str(error)))
                return timedelta(seconds=1)
    return given


_TAKES: dict[type, tuple[type[inspect.Type], ...]] = {
    dict: (inspect.StructType,),
    list: (inspect.ListType, inspect.VarTupleType),
    str: (inspect.TimeDeltaType,),
}


def _fault(given: dict[str, Any], wanted: type[S], at: Path, *, field: str | None = None) -> Fault | None:
    """What the type itself says; with ``field``, only what it says of that one."""
    try:
        msgspec.convert(given, wanted)
    except msgspec.ValidationError as error:
        said, _, where = str(error).partition(" - at `$")
        path = _path(where.removesuffix("`"))
        if field is None or (path and path[0] == field):
            return Fault((*at, *path), said[:1].lower() + said[1:])
    return None


def _path(where: str) -> Path:
    return tuple(int(nth) if nth else name for name, nth in re.findall(r"\.(\w+)|\[(\d+)\]", where))
