"""What ``crontick.toml`` says, checked whole."""

import re
import tomllib
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from crontick.jobs import toml_lines
from crontick.jobs.config_error import ConfigError
from crontick.jobs.fit import Fault, fit, suggestion
from crontick.jobs.kinds.settings import EmailSettings, HttpSettings, ReportSettings, WebhookEndpoint
from crontick.jobs.kinds.sql_job import SqlJob
from crontick.jobs.outward_sections import AlertSettings, FanOutSettings, HeartbeatSettings, WakeSettings
from crontick.jobs.request import NAME_PATTERN
from crontick.jobs.sections import (
    ApiSettings,
    Config,
    KindSettings,
    LimitSettings,
    QueueSettings,
    ReminderSettings,
    Retention,
    ScheduleSettings,
)

__all__ = ["Config", "ConfigError", "load_config", "read_config"]


def load_config(path: Path | None, *, kinds: Collection[str] | None = None) -> Config:
    """Read the file; with ``kinds``, the names that this deployment knows, names of others are faults too.

    Raises ``ConfigError``.
    """
    if path is None:
        return Config()
    try:
        text = path.read_bytes().decode()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError([f"{path} cannot be read as text in UTF-8 ({type(error).__name__})"]) from None
    return read_config(text, name=path.name, kinds=kinds)


def read_config(text: str, *, name: str = "crontick.toml", kinds: Collection[str] | None = None) -> Config:
    """The configuration in a text; ``name`` stands before each line number of a ``ConfigError``."""
    try:
        given = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError([_unreadable(name, str(error))]) from None
    faults: list[Fault] = []
    for section in _NAMED.keys() & given.keys():
        _check_table_names(section, _tables(given[section]), faults)
    sections = {section: _section(section, value, faults) for section, value in given.items()}
    if kinds is not None:
        _check_kinds(given, kinds, faults)
    if limits := sections.get("limits"):
        from crontick.jobs.limits import misfits

        faults += misfits(limits, sections.get("email"))
    _check_names("reminder", given, faults)
    _check_names("schedule", given, faults)
    _check_names("webhook_endpoint", given, faults)
    _check_names("report", given, faults)
    _check_names("sql_job", given, faults)
    if faults:
        faults += _schedules(given)
        lines = toml_lines.lines(text)
        placed = sorted((toml_lines.line_of(fault.path, lines), fault) for fault in faults)
        raise ConfigError([f"{name}:{line}: {_where(fault.path)}{fault.sentence}" for line, fault in placed])
    return Config(**sections)


_STRUCTS: Final[dict[str, type[msgspec.Struct]]] = {
    "email": EmailSettings,
    "webhook_endpoint": WebhookEndpoint,
    "http": HttpSettings,
    "reminder": ReminderSettings,
    "schedule": ScheduleSettings,
    "report": ReportSettings,
    "sql_job": SqlJob,
    "retention": Retention,
    "api": ApiSettings,
    "alerts": AlertSettings,
    "heartbeat": HeartbeatSettings,
    "fan_out": FanOutSettings,
    "wake": WakeSettings,
}

_NAMED: Final[dict[str, type[msgspec.Struct]]] = {
    "kinds": KindSettings,
    "limits": LimitSettings,
    "queues": QueueSettings,
}
"""Tables of tables, each with a name of the user's."""


def _section(section: str, given: Any, faults: list[Fault]) -> Any:
    """One table, array of tables or value at the top of the file."""
    if section not in Config.__struct_fields__:
        known = suggestion(section, Config.__struct_fields__)
        faults.append(Fault((section,), f"there is no such table or setting{known}"))
    elif section == "strict_kinds":
        if not isinstance(given, bool):
            faults.append(Fault((section,), "must be true or false"))
        return given
    elif section in ("webhook_endpoint", "reminder", "schedule", "report", "sql_job"):
        if not isinstance(given, list) or not all(isinstance(table, dict) for table in given):
            faults.append(Fault((section,), f"must be an array of tables: write [[{section}]]"))
            return ()
        return tuple(fit(table, _STRUCTS[section], (section, nth), faults) for nth, table in enumerate(given))
    elif not isinstance(given, dict):
        faults.append(Fault((section,), f"must be a table: write [{section}]"))
    elif section in _NAMED:
        return {name: _named(section, name, table, faults) for name, table in given.items()}
    else:
        return fit(given, _STRUCTS[section], (section,), faults)
    return None


def _named(section: str, name: str, given: Any, faults: list[Fault]) -> Any:
    if not isinstance(given, dict):
        faults.append(Fault((section, name), f"must be a table: write [{section}.{name}]"))
        return None
    return fit(given, _NAMED[section], (section, name), faults)


def _check_table_names(section: str, tables: dict[str, Any], faults: list[Fault]) -> None:
    """The name of a limit is part of the hold of what waits for it; that of a queue is one that a job can have."""
    if section == "kinds":
        return  # checked beside those that are declared in Python
    faults += [
        Fault((section, name), "is no name: lower-case letters, digits, _ . -, at most 64")
        for name in tables
        if not re.match(NAME_PATTERN, name)
    ]


def _check_kinds(given: dict[str, Any], kinds: Collection[str], faults: list[Fault]) -> None:
    """Every kind that the file names is one that this deployment knows, or that the file declares by its URL."""
    tables = _tables(given.get("kinds"))
    declared = {name for name, table in tables.items() if isinstance(table, dict) and "url" in table}
    for name in sorted(declared):
        if name in kinds:
            faults.append(Fault(("kinds", name, "url"), "a kind of this name has its function in Python: rename one"))
        elif not re.match(NAME_PATTERN, name):
            faults.append(Fault(("kinds", name), "is no name of a kind: lower-case letters, digits, _ . -, at most 64"))
    named: list[tuple[toml_lines.Path, object]] = [(("kinds", name), name) for name in tables]
    for section in ("reminder", "schedule"):
        for nth, table in enumerate(_array(given.get(section))):
            named.append(((section, nth, "kind"), table.get("kind")))
    offered = _tables(given.get("api")).get("kinds")
    named += [(("api", "kinds"), name) for name in (offered if isinstance(offered, list) else ())]
    for name, limit in _tables(given.get("limits")).items():
        named.append((("limits", name, "kind"), _tables(limit).get("kind")))
    known = declared.union(kinds)
    for path, wanted in named:
        if isinstance(wanted, str) and wanted not in known:
            mend = suggestion(wanted, known) or ": name its module in CRONTICK_MODULES"
            faults.append(Fault(path, f"this deployment has no kind {wanted}{mend}"))


def _schedules(given: dict[str, Any]) -> Iterator[Fault]:
    """Expressions and zones, which ``crontick check`` reads of a file without other faults: all are told at once."""
    from crontick.jobs.check_schedules import expression_faults

    for nth, table in enumerate(_array(given.get("schedule"))):
        for field, said in expression_faults(table.get("cron"), table.get("tz", "UTC")):
            yield Fault(("schedule", nth, field), said)


def _check_names(section: str, given: dict[str, Any], faults: list[Fault]) -> None:
    seen: set[str] = set()
    for nth, table in enumerate(_array(given.get(section))):
        name = table.get("name")
        if isinstance(name, str):
            if name in seen:
                faults.append(Fault((section, nth, "name"), f"{name} was there before: give each its own name"))
            seen.add(name)


def _array(given: Any) -> list[dict[str, Any]]:
    return [table for table in given if isinstance(table, dict)] if isinstance(given, list) else []


def _tables(given: Any) -> dict[str, Any]:
    return given if isinstance(given, dict) else {}


def _where(path: toml_lines.Path) -> str:
    names = [str(part) for part in path if isinstance(part, str)]
    return f"{'.'.join(names)}: " if names else ""


def _unreadable(name: str, said: str) -> str:
    """``tomllib``'s sentence with the line in front: ``Invalid value (at line 7, column 5)``."""
    # Imported here: a tick whose file can be read does not pay for it.
    from crontick.jobs.in_words import unreadable

    at = re.search(r" \(at (?:line (\d+), column \d+|end of document)\)", said)
    sentence = unreadable(said[: at.start()] if at else said)
    return f"{name}:{at[1]}: {sentence}" if at and at[1] else f"{name}: at its end: {sentence}"
