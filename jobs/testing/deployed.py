"""Which kinds and reminders a test runs."""

import os
from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from crontick.jobs.deployment import Deployment, load_deployment
from crontick.jobs.environ import Environ
from crontick.jobs.kind import Kind
from crontick.jobs.reminders import Reminder
from crontick.jobs.settings import DEFAULT_CONFIG, Settings, SettingsError

__all__ = ["deployed"]


def deployed(
    environment: str,
    kinds: Iterable[Kind[Any]] | None = None,
    reminders: Iterable[Reminder] = (),
    deployment: Deployment | None = None,
    *,
    beside: Iterable[Kind[Any]] = (),
) -> Deployment:
    """What was passed; else what the modules and the file of this process have, and its settings that seal or sign.

    ``beside`` are kinds that may be in those modules, or not.
    """
    if deployment is None:
        said = _said(Environ(os.environ), code=kinds is None)
        settings = Settings(environment=environment, max_parallel_ticks=100, **said)
        return load_deployment(settings, kinds=(*(kinds or ()), *beside), reminders=reminders)
    settings = replace(deployment.settings, environment=environment, max_parallel_ticks=100, paused=False)
    return replace(deployment, settings=settings)


def _said(read: Environ, *, code: bool) -> dict[str, Any]:
    """The keys always: ``enqueue`` seals with them, and links are signed."""
    said: dict[str, Any] = {
        "encryption_keys": read.keys("CRONTICK_ENCRYPTION_KEYS"),
        "signing_secrets": read.signing("CRONTICK_SIGNING_SECRET"),
        "public_url": read.public_url("CRONTICK_PUBLIC_URL"),
    }
    if code:
        said |= {
            "modules": read.modules("CRONTICK_MODULES"),
            "around": read.matching("CRONTICK_AROUND", r"[\w.]+:[\w.]+", "module:name") or None,
            "config_path": read.file("CRONTICK_CONFIG", DEFAULT_CONFIG),
        }
    if read.sentences:
        raise SettingsError(read.sentences)
    return said
