"""Whether a tick could run: the database can be reached, and its schema and environment are this deployment's."""

from typing import Final

import psycopg

from crontick.jobs.connect import connect
from crontick.jobs.deployment import Deployment
from crontick.jobs.unavailable import Unavailable, unavailable
from crontick.sql import SCHEMA, query

__all__ = ["check_ready", "refuse_misfit"]

_PATIENCE_SECONDS: Final = 10.0


async def check_ready(deployment: Deployment) -> None:
    """Returns when it could; raises ``Unavailable`` with the reason and the mend."""
    settings = deployment.settings
    if settings.database_url is None:
        raise Unavailable("CRONTICK_DATABASE_URL is not set")
    try:
        async with await connect(settings.database_url, timeout_seconds=_PATIENCE_SECONDS) as conn:
            row = await (await conn.execute(query("read_installation").text.encode())).fetchone()
    except (psycopg.Error, OSError, TimeoutError) as error:
        raise unavailable(error) from None
    refuse_misfit(row, settings.environment)


def refuse_misfit(installed: tuple[str, int, int] | None, here: str) -> None:
    """Raise ``Unavailable`` where ``read_installation`` tells of a database that this code, as ``here``, is not for."""
    if installed is None:
        raise Unavailable("this database has no environment yet: run `crontick migrate`")
    environment, version, oldest_code = installed
    if environment != here:
        raise Unavailable(
            f'this database belongs to the environment "{environment}", not to "{here}":'
            " set CRONTICK_ENVIRONMENT, or point this deployment at its own database"
        )
    if version < SCHEMA:
        raise Unavailable(f"this code needs schema {SCHEMA}, the database has {version}: run `crontick migrate`")
    if oldest_code > SCHEMA:
        raise Unavailable(f"the database serves code from schema {oldest_code} on: deploy a newer crontick")
