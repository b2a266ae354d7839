"""A deployment: what this code and configuration declare, under the hash that tells it from others."""

import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from crontick.jobs.deployment_hash import deployment_hash
from crontick.jobs.kind import WINDOW_LESS_SECONDS, Kind
from crontick.jobs.kinds import shipped
from crontick.jobs.redact import Redactor
from crontick.jobs.reminders import Reminder
from crontick.jobs.secrets import read_secret, tokens
from crontick.jobs.sections import Config
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
    alerts: str | None = None
    """From when on somebody is told, and over which channels, as JSON; None: nobody looks."""

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
                    "breaker": kind.breaker,
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

    def queue_seats_json(self, running: Mapping[str, int]) -> str | None:
        """The free seats of each queue that has a number of them, less those that run; None where no queue has one."""
        queues = self.config.queues
        if not queues:
            return None
        free = {name: queue.seats - running.get(name, 0) for name, queue in queues.items()}
        return msgspec.json.encode(free).decode()


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
        from crontick.jobs.imports import imported

        for value in vars(imported(name, "CRONTICK_MODULES")).values():
            if isinstance(value, Kind):
                _add(found, value, name)
            elif isinstance(value, Reminder) and value not in remind:
                remind.append(value)
    config = _config(settings, found)
    if config.kinds:
        from crontick.jobs.overriding import overridden

        found |= overridden(found, config.kinds)
    if config.email is not None:
        found["send_email"] = msgspec.structs.replace(
            found["send_email"], in_doubt=config.email.in_doubt, window_seconds=config.email.window_seconds
        )
    if config.limits:
        from crontick.jobs.limits import check_keys

        check_keys(config.limits, found)
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
        hash=deployment_hash(found, remind, schedules, config),
        version=VERSION,
        keyring=_keyring(settings),
        alerts=config.alerts.told(more=("CRONTICK_ALERT_URL",) if settings.alert_url else ()),
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


def _add(found: dict[str, Kind[Any]], kind: Kind[Any], where: str) -> None:
    known = found.get(kind.name)
    if known is not None and known is not kind:
        raise DeploymentError(f"two kinds are called {kind.name}, one of them in {where}: rename one")
    found[kind.name] = kind


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
    from crontick.jobs.imports import imported

    module, _, attribute = name.partition(":")
    around = getattr(imported(module, "CRONTICK_AROUND"), attribute, None)
    if not callable(around):
        raise DeploymentError(f"CRONTICK_AROUND names {name}, and {module} has no callable {attribute}")
    return around  # type: ignore[no-any-return]


def _secrets(settings: Settings, config: Config) -> list[str]:
    """Every secret that this deployment was given, so that no text that leaves holds one (P36)."""
    named = [config.email.secret_name] if config.email is not None else []
    for endpoint in config.webhook_endpoint:
        named += list(endpoint.secret_names)
    named += config.alerts.webhooks
    if config.heartbeat is not None:
        named.append(config.heartbeat.url_env)
    if config.wake is not None:
        named += config.wake.secrets_env.values()
    values = [value for name in named for value in _values(name)]
    return [*settings.secrets, *values]


def _values(name: str) -> tuple[str, ...]:
    """What that variable holds, whole and apart; one that cannot be read is told when it is used."""
    try:
        value = read_secret(os.environ, name) or ""
    except ValueError:
        return ()
    return (value, *tokens(value))
