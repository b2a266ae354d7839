"""Brings the database up to this code from inside Lambda, where no shell is."""

import psycopg

from crontick.jobs.deployment import Deployment
from crontick.jobs.known import make_kinds_known
from crontick.jobs.unavailable import Unavailable, unavailable
from crontick.sql.migrate import MigrationRefused, migrate

__all__ = ["migrated"]

LOCK_SECONDS = 10
"""How long another migration is waited for: a call ends, whatever it waits for."""


def migrated(deployment: Deployment) -> list[str]:
    """The names of the files that ran. Raises ``Unavailable`` when the database refuses or cannot be had."""
    settings = deployment.settings
    assert settings.migrate_url is not None  # the door looked
    try:
        ran = migrate(settings.migrate_url, environment=settings.environment, wait_seconds=LOCK_SECONDS)
        make_kinds_known(deployment, settings.migrate_url)
    except MigrationRefused as refused:
        raise Unavailable(str(refused)) from None
    except psycopg.Error as error:
        raise unavailable(error) from None
    return ran
