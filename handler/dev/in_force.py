"""What the code and ``crontick.toml`` declare now, in force from the start of the app's process on."""

import os
from contextlib import suppress

import psycopg

from crontick.jobs.config_error import ConfigError
from crontick.jobs.deployment import DeploymentError, load_deployment
from crontick.jobs.known import make_kinds_known
from crontick.jobs.settings import Settings


def put_in_force() -> None:
    """Also where an edit was taken back: a tick takes what an earlier deployment declared for a roll-back, and waits.

    What is wrong with the code, the file or the database is left to the first tick, which says it.
    """
    settings = Settings.from_environ(os.environ)
    assert settings.database_url is not None  # environ_for_app names one
    with suppress(ConfigError, DeploymentError, psycopg.Error):
        make_kinds_known(load_deployment(settings), settings.database_url)
