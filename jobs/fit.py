"""Fits data read from a file to a type, collecting every fault with its path instead of stopping at the first."""

import re
from collections.abc import Iterable
from typing import Any, Final, NamedTuple, TypeVar

import msgspec
from msgspec import inspect

from crontick.jobs.durations import SECONDS, duration, seconds
from crontick.jobs.toml_lines import Path

S = TypeVar("S", bound=msgspec.Struct)


class Fault(NamedTuple):
    """What is wrong, and where."""

    path: Path
    sentence: str


def fit(given: dict[str, Any], wanted: type[S], at: Path, faults: list[Fault]) -> S | None:
    """The struct, or None when ``faults`` has grown."""
    told = len(faults)
    readable = _readable(given, inspect.type_info(wanted), at, faults)
    unreadable = {fault.path[len(at)] for fault in faults[told:]}
    misfits = (_fault({name: readable[name]}, wanted, at, field=name) for name in readable.keys() - unreadable)
    faults += [fault for fault in misfits if fault]
    if len(faults) == told and (fault := _fault(readable, wanted, at)):
        faults.append(fault)
    return msgspec.convert(readable, wanted) if len(faults) == told else None


def suggestion(name: str, known: Iterable[str]) -> str:
    """`` (did you mean …?)`` where a known name is close, else nothing."""
    from difflib import get_close_matches

    close = get_close_matches(name, list(known), n=1)
    return f" (did you mean {close[0]}?)" if close else ""


def _readable(given: Any, wanted: inspect.Type, at: Path, faults: list[Fault]) -> Any:
    """The data with its lengths of time read and the names that nobody knows told and taken out."""
    match wanted, given:
        case inspect.UnionType(), _:
            arms = [arm for arm in wanted.types if isinstance(arm, _TAKES.get(type(given), ()))]
            return _readable(given, arms[0], at, faults) if arms else given
        case inspect.StructType(), dict():
            return _known(given, {field.encode_name: field.type for field in wanted.fields}, at, faults)
        case ((inspect.ListType() | inspect.VarTupleType()), list()):
            return [_readable(value, wanted.item_type, (*at, nth), faults) for nth, value in enumerate(given)]
        case inspect.Metadata(), _ if not (wanted.extra == SECONDS and isinstance(given, int | float)):
            return _readable(given, wanted.type, at, faults)
    return _length(given, wanted, at, faults)


def _known(given: dict[str, Any], fields: dict[str, inspect.Type], at: Path, faults: list[Fault]) -> dict[str, Any]:
    unknown = given.keys() - fields.keys()
    faults += [Fault((*at, name), f"there is no {name}{suggestion(name, fields)}") for name in unknown]
    known = given.keys() & fields.keys()
    return {name: _readable(given[name], fields[name], (*at, name), faults) for name in known}


def _length(given: Any, wanted: inspect.Type, at: Path, faults: list[Fault]) -> Any:
    try:
        match wanted, given:
            case inspect.Metadata(), int() | float():
                return seconds(given)
            case inspect.TimeDeltaType(), str():
                return duration(given)
            case inspect.TimeDeltaType(), int() | float():
                faults.append(Fault(at, f"{given} has no unit: write {given}s, {given}m, {given}h or {given}d"))
    except ValueError as error:
        faults.append(Fault(at, str(error)))
    return given


_TAKES: Final[dict[type, tuple[type[inspect.Type], ...]]] = {
    dict: (inspect.StructType,),
    list: (inspect.ListType, inspect.VarTupleType),
    str: (inspect.TimeDeltaType, inspect.Metadata),
    int: (inspect.TimeDeltaType, inspect.Metadata),
    float: (inspect.TimeDeltaType, inspect.Metadata),
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
