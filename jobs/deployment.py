"""A deployment: what this code and configuration declare, under the hash that tells it from others."""

import hashlib
import importlib
import os
from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import msgspec

from crontick.jobs import backoff as backoffs
from crontick.jobs.interrupts import is_ctrl_c
from crontick.jobs.kind import WINDOW_LESS_SECONDS, Kind
from crontick.jobs.kinds import shipped
from crontick.jobs.redact import Redactor
from crontick.jobs.reminders import Reminder
from crontick.jobs.secrets import read_secret, tokens
from crontick.jobs.sections import Config, Exponential, KindSettings
from crontick.jobs.settings import Settings
from crontick.sql import VERSION

if TYPE_CHECKING:
    from crontick.jobs.schedules import Schedule
    from crontick.jobs.sealing import Keyring

__all__ = ["Deployment", "DeploymentError", "load_deployment"]


class DeploymentError(Exception):
    """The modules of this deployment cannot be used as they are; the message names the module and the mend."""


class Deployment(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that a tick needs to know of this code; made once a process."""

    settings: Settings
    config: Config
    kinds: Mapping[str, Kind[Any]]
    reminders: tuple[Reminder, ...]
    schedules: "tuple[Schedule, ...]"
    around: Callable[..., Any] | None
    redact: Redactor
    hash: str
    version: str
    keyring: "Keyring | None" = None

    @property
    def known(self) -> list[str]:
        """The names of all kinds, sorted."""
        return sorted(self.kinds)

    @property
    def breakers(self) -> list[str]:
        """The names of the kinds that have a breaker, sorted."""
        return sorted(name for name, kind in self.kinds.items() if kind.breaker)

    def kinds_json(self) -> str:
        """What ``crontick.kinds`` keeps, by which an enqueue from any language finds queue and priority."""
        return msgspec.json.encode(
            [
                {
                    "name": kind.name,
                    "queue": kind.queue,
                    "priority": kind.priority,
                    "max_attempts": kind.max_attempts,
                    "secret": sorted(kind.secret),
                }
                for _, kind in sorted(self.kinds.items())
            ]
        ).decode()

    def markers_json(self) -> str | None:
        """Which payload field is a kind's marker; None when no kind has one."""
        marked = {
            kind.name: {
                "field": kind.marker,
                "in_doubt": kind.in_doubt,
                **({"window_seconds": kind.window_seconds - WINDOW_LESS_SECONDS} if kind.window_seconds else {}),
            }
            for kind in self.kinds.values()
            if kind.marker is not None
        }
        return msgspec.json.encode(marked).decode() if marked else None

    def limits_json(self) -> str | None:
        """What may start, and how many at once; None when nothing is limited."""
        if not self.config.limits:
            return None
        from crontick.jobs.limits import limits_json

        return limits_json(self.config.limits)


def load_deployment(
    settings: Settings, *, kinds: Iterable[Kind[Any]] = (), reminders: Iterable[Reminder] = ()
) -> Deployment:
    """Import the modules of ``CRONTICK_MODULES``, collect their kinds and reminders, and apply ``crontick.toml``.

    Raises ``DeploymentError`` for a module that cannot be imported and for a name that two kinds share, ``ConfigError``
    for what the file gets wrong.
    """
    found: dict[str, Kind[Any]] = {}
    remind: list[Reminder] = list(reminders)
    for kind in (*shipped(), *kinds):
        _add(found, kind, "the kinds that ship")
    for name in settings.modules:
        for value in vars(_imported(name, "CRONTICK_MODULES")).values():
            if isinstance(value, Kind):
                _add(found, value, name)
            elif isinstance(value, Reminder) and value not in remind:
                remind.append(value)
    config = _config(settings, found)
    for name, said in config.kinds.items():
        if said.url is not None:
            from crontick.jobs.kinds.http_kind import http_kind

            found[name] = http_kind(name, said.url)
        found[name] = _overridden(found[name], said)
    if config.email is not None:
        found["send_email"] = msgspec.structs.replace(
            found["send_email"], in_doubt=config.email.in_doubt, window_seconds=config.email.window_seconds
        )
    _check_keys(config, found)
    remind += [Reminder.from_settings(section) for section in config.reminder]
    _check_reminders(remind, found)
    schedules = _schedules(found, config)
    return Deployment(
        settings=settings,
        config=config,
        kinds=found,
        reminders=tuple(remind),
        schedules=schedules,
        around=_around(settings.around),
        redact=Redactor(_secrets(settings, config)),
        hash=_hash(found, remind, schedules, config),
        version=VERSION,
        keyring=_keyring(settings),
    )


def _keyring(settings: Settings) -> "Keyring | None":
    if not settings.encryption_keys:
        return None
    from crontick.jobs.sealing import read_keyring

    return read_keyring(",".join(settings.encryption_keys))


def _config(settings: Settings, kinds: Mapping[str, Kind[Any]]) -> Config:
    if settings.config_path is None:
        return Config()
    from crontick.jobs.config import load_config

    return load_config(settings.config_path, kinds=frozenset(kinds))


def _imported(name: str, variable: str) -> Any:
    """The module; ``DeploymentError`` with its file and line for whatever keeps it from being imported."""
    try:
        return importlib.import_module(name)
    except BaseException as error:
        if is_ctrl_c(error):
            raise
        if (
            isinstance(error, ModuleNotFoundError)
            and error.name is not None
            and f"{name}.".startswith(f"{error.name}.")
        ):
            raise DeploymentError(
                f"{variable} names {name}, and Python finds no module {error.name}: is its folder on the path?"
            ) from None
        from crontick.jobs.imports import where

        raise DeploymentError(f"{variable} names {name}, which cannot be imported: {where(error)}") from None


def _add(found: dict[str, Kind[Any]], kind: Kind[Any], where: str) -> None:
    known = found.get(kind.name)
    if known is not None and known is not kind:
        raise DeploymentError(f"two kinds are called {kind.name}, one of them in {where}: rename one")
    found[kind.name] = kind


def _overridden(kind: Kind[Any], said: KindSettings) -> Kind[Any]:
    changes: dict[str, Any] = {
        name: value
        for name in ("queue", "priority", "max_attempts", "on_failure", "breaker")
        if (value := getattr(said, name)) is not None
    }
    if said.timeout is not None:
        timeout = said.timeout.total_seconds()
        changes["timeout_seconds"] = timeout
        if said.needs is None:
            needs_all = kind.needs_seconds == kind.timeout_seconds
            changes["needs_seconds"] = min(kind.needs_seconds, timeout) if not needs_all else timeout
    if said.needs is not None:
        changes["needs_seconds"] = said.needs.total_seconds()
    if said.secret:
        if kind.marker in said.secret:
            raise DeploymentError(
                f"[kinds.{kind.name}] secret names {kind.marker}, the key of its markers, which is kept in clear"
            )
        changes["secret"] = kind.secret | frozenset(said.secret)
    if isinstance(said.backoff, Exponential):
        changes["backoff"] = backoffs.Exponential(
            said.backoff.base.total_seconds(), said.backoff.factor, said.backoff.cap.total_seconds()
        )
    elif said.backoff is not None:
        changes["backoff"] = backoffs.normal(said.backoff)
    return msgspec.structs.replace(kind, **changes)


def _check_keys(config: Config, kinds: Mapping[str, Kind[Any]]) -> None:
    """The key of a limit is kept in clear."""
    for name, limit in config.limits.items():
        if limit.key is None:
            continue
        field = limit.key.split(".")[1]
        for kind in kinds.values():
            if field in kind.secret and (limit.kind == kind.name or limit.queue == kind.queue):
                raise DeploymentError(
                    f"[limits.{name}] counts by {limit.key}, a secret field of {kind.name}, and would keep it in clear:"
                    " name another field"
                )


def _check_reminders(reminders: list[Reminder], kinds: Mapping[str, Kind[Any]]) -> None:
    names: set[str] = set()
    for reminder in reminders:
        if reminder.kind not in kinds:
            raise DeploymentError(f"reminder {reminder.name} enqueues {reminder.kind}, and no kind has that name")
        if reminder.name in names:
            raise DeploymentError(f"two reminders are called {reminder.name}: rename one")
        names.add(reminder.name)


def _schedules(kinds: Mapping[str, Kind[Any]], config: Config) -> "tuple[Schedule, ...]":
    if not config.schedule and not any(kind.schedules for kind in kinds.values()):
        return ()
    from crontick.jobs.schedules import declared

    try:
        return declared(kinds, config.schedule)
    except ValueError as error:
        raise DeploymentError(str(error)) from None


def _around(name: str | None) -> Callable[..., Any] | None:
    if name is None:
        return None
    module, _, attribute = name.partition(":")
    around = getattr(_imported(module, "CRONTICK_AROUND"), attribute, None)
    if not callable(around):
        raise DeploymentError(f"CRONTICK_AROUND names {name}, and {module} has no callable {attribute}")
    return around  # type: ignore[no-any-return]


def _secrets(settings: Settings, config: Config) -> list[str]:
    """Every secret that this deployment was given, so that no text that leaves holds one (P36)."""
    named = [config.email.secret_name] if config.email is not None else []
    for endpoint in config.webhook_endpoint:
        named += list(endpoint.secret_names)
    values = [value for name in named for value in _values(name)]
    return [*settings.secrets, *values]


def _values(name: str) -> tuple[str, ...]:
    """What that variable holds, whole and apart; one that cannot be read is told when it is used."""
    try:
        value = read_secret(os.environ, name) or ""
    except ValueError:
        return ()
    return (value, *tokens(value))


def _hash(
    kinds: Mapping[str, Kind[Any]], reminders: list[Reminder], schedules: "tuple[Schedule, ...]", config: Config
) -> str:
    told = [
        VERSION,
        [
            [
                k.name,
                k.queue,
                k.priority,
                k.max_attempts,
                k.timeout_seconds,
                k.needs_seconds,
                repr(k.backoff),
                k.marker,
                k.in_doubt,
                k.window_seconds,
                sorted(k.secret),
                k.on_failure,
                k.breaker,
            ]
            for _, k in sorted(kinds.items())
        ],
        sorted(reminder.name for reminder in reminders),
        [schedule.told() for schedule in schedules],
        msgspec.json.encode(config, enc_hook=_plain).decode(),
    ]
    return hashlib.sha256(msgspec.json.encode(told)).hexdigest()[:32]


def _plain(value: object) -> object:
    if isinstance(value, timedelta):
        return value.total_seconds()
    return repr(value)
