"""Runs one command, and turns what went wrong into a sentence and an exit status."""

import psycopg

from crontick.handler.cli.app import app
from crontick.handler.cli.remote import NotDoneThere
from crontick.handler.cli.screen import complain
from crontick.jobs.config_error import ConfigError
from crontick.jobs.deployment import DeploymentError
from crontick.jobs.rights import unavailable_outside_ticks
from crontick.jobs.sealing import SealingError
from crontick.jobs.settings import SettingsError
from crontick.jobs.unavailable import Unavailable
from crontick.sql.migrate import MigrationRefused

DONE, FOUND_WRONG, USAGE = 0, 1, 2


def run(arguments: list[str] | None = None) -> int:
    """0 done, 1 found something wrong, 2 called or configured wrongly."""
    try:
        app(arguments, standalone_mode=True)
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else DONE
    except (SettingsError, ConfigError, DeploymentError, SealingError) as error:
        for sentence in str(error).splitlines():
            complain(sentence)
        return USAGE
    except (Unavailable, MigrationRefused, NotDoneThere) as error:
        complain(str(error))
    except psycopg.Error as error:
        complain(_told(error))
    return FOUND_WRONG


def _told(error: psycopg.Error) -> str:
    """The database's own sentence where it is crontick's (CT…); else ours, for theirs may quote rows and passwords."""
    if (error.sqlstate or "").startswith("CT"):
        hint = f" ({error.diag.message_hint})" if error.diag.message_hint else ""
        return f"{error.diag.message_primary}{hint}"
    return unavailable_outside_ticks(error).reason
