"""Fits data read from a file to a type, collecting every fault with its path instead of stopping at the first."""

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Any, Final, NamedTuple, TypeVar, get_args, get_origin

import msgspec
from msgspec import inspect

from crontick.jobs.durations import SECONDS, duration, seconds
from crontick.jobs.toml_lines import Path

S = TypeVar("S", bound=msgspec.Struct)
_OTHER_WORDS: Final = {
    "timezone": "tz",
    "time_zone": "tz",
    "zone": "tz",
    "expression": "cron",
    "retries": "max_attempts",
    "sql": "statement",
    "params": "parameters",
    "max_concurrency": "concurrency",
}
"""What other schedulers call it."""


class Fault(NamedTuple):
    """What is wrong, and where."""

    path: Path
    sentence: str


def fit(given: dict[str, Any], wanted: type[S], at: Path, faults: list[Fault]) -> S | None:
    """The struct, or None when ``faults`` has grown."""
    told = len(faults)
    readable = _readable(given, inspect.type_info(wanted), at, faults)
    unreadable = {fault.path[len(at)] for fault in faults[told:]}
    for field in msgspec.structs.fields(wanted):
        name = field.encode_name
        if name in readable and name not in unreadable:
            faults += _misfits(readable[name], field.type, (*at, name))
        elif field.required and name not in given and not any(_hints_at(name, fault) for fault in faults[told:]):
            faults.append(Fault(at, f"{name} is missing"))
    if len(faults) > told:
        return None
    try:
        return msgspec.convert(readable, wanted)
    except msgspec.ValidationError as error:  # how its fields go together
        said, _, _ = str(error).partition(" - at `$")
        faults.append(Fault(at, said[:1].lower() + said[1:]))
        return None


def suggestion(name: str, known: Iterable[str]) -> str:
    """`` (did you mean …?)`` where a known name is close, else nothing."""
    from difflib import get_close_matches

    close = get_close_matches(name, list(known), n=1)
    return f" (did you mean {close[0]}?)" if close else ""


def _hints_at(name: str, fault: Fault) -> bool:
    """Whether the fault tells of a misspelling of that name, which then is not missing as well."""
    return f"(did you mean {name}?)" in fault.sentence or f"write {name} =" in fault.sentence


def _meant(name: str, fields: Collection[str]) -> str:
    for variable in (f"{name}_env", f"{name.removesuffix('s')}_env"):
        if variable in fields:
            return f": write {variable} = the name of the variable that has it, for no secret stands in this file"
    other = _OTHER_WORDS.get(name)
    return f" (did you mean {other}?)" if other and other in fields else suggestion(name, fields)


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
    faults += [Fault((*at, name), f"there is no {name}{_meant(name, fields)}") for name in unknown]
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


def _misfits(given: Any, wanted: Any, at: Path) -> Iterator[Fault]:
    """What the type of a field says against its value: one fault, but of a table of the user's one for each name."""
    if get_origin(wanted) is dict and isinstance(given, dict):
        for name, value in given.items():
            yield from _misfits(value, get_args(wanted)[1], (*at, name))
        return
    try:
        msgspec.convert(given, wanted)
    except msgspec.ValidationError as error:
        # Imported here: a tick whose file is right does not pay for it.
        from crontick.jobs.in_words import misfit

        said, _, where = str(error).partition(" - at `$")
        path = _path(where.removesuffix("`"))
        yield Fault((*at, *path), misfit(said, wanted, path, _value_at(given, path)))


def _value_at(given: Any, path: Path) -> object:
    for part in path:
        given = given[part]
    return given


def _path(where: str) -> Path:
    return tuple(int(nth) if nth else name for name, nth in re.findall(r"\.(\w+)|\[(\d+)\]", where))
