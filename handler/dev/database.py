"""The database one develops on: an embedded PostgreSQL of the project's own, or the one that the environment names."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Final

from crontick.handler.dev.folder import Folder
from crontick.handler.dev.refused import DevRefused
from crontick.jobs.settings import Settings
from crontick.sql.embedded import EmbeddedPostgresError, postgres
from crontick.sql.migrate import MigrationRefused, environment_of, migrate

ENVIRONMENT: Final = "dev"
_SETTINGS: Final = {"synchronous_commit": "off"}
_ANOTHER: Final = "unset it to develop on an embedded PostgreSQL, or name a database that is for development"


@dataclass(frozen=True, slots=True)
class Database:
    """Where the jobs are, and whether nobody else has it."""

    url: str
    environment: str
    embedded: bool
    where: str


@contextmanager
def database(settings: Settings, folder: Folder, *, environment: str | None, migrated: bool) -> Iterator[Database]:
    """A migrated database, there until the block is left.

    ``environment`` is what CRONTICK_ENVIRONMENT says. One that was given by URL is migrated when it is new, or when
    ``migrated`` asks for it. Raises ``DevRefused`` for a production's: its mails would end in the sink
    (P13); and for data of an earlier run that do not fit this code or this PostgreSQL.
    """
    if settings.database_url is not None and settings.migrate_url is not None:
        yield _given(settings.database_url, settings.migrate_url, environment, migrated=migrated)
        return
    with ExitStack() as stack:
        try:
            url = stack.enter_context(postgres(folder.data_path, port=0, settings=_SETTINGS))
            migrate(url, environment=ENVIRONMENT, test_clock=True)
        except (EmbeddedPostgresError, MigrationRefused) as error:
            kept = (folder.data_path / "PG_VERSION").exists()
            mend = (
                f"; the data of an earlier run are in the way: delete {folder.data_path} to begin anew" if kept else ""
            )
            raise DevRefused(f"{error}{mend}") from None
        yield Database(url, ENVIRONMENT, embedded=True, where=f"an embedded PostgreSQL, data in {folder.data_path}")


def _given(url: str, migrate_url: str, environment: str | None, *, migrated: bool) -> Database:
    known = environment_of(url)
    wanted = environment or ENVIRONMENT
    if "production" in (known, wanted):
        whose = "the database is" if known == "production" else "CRONTICK_ENVIRONMENT says that this is"
        raise DevRefused(
            f"{whose} a production's, and crontick dev would send its mails into a sink and call them sent:"
            f" the URL comes from CRONTICK_DATABASE_URL or DATABASE_URL, {_ANOTHER}"
        )
    if known is not None and known != wanted:
        raise DevRefused(
            f'the database belongs to the environment "{known}", not to "{wanted}": set CRONTICK_ENVIRONMENT={known}'
            " to run its jobs here, or point CRONTICK_DATABASE_URL at another"
        )
    if known is None or migrated:
        migrate(migrate_url, environment=wanted)
    return Database(url, wanted, embedded=False, where="the database that the environment names")
