"""Migrations need one session: which URL they take, and which they refuse."""

from collections.abc import Iterator

import psycopg
import pytest

from crontick.sql.migrate import MigrationRefused, migrate
from tests.conftest import database_name
from tests.worlds import pgbouncer as poolers


@pytest.fixture(params=["transaction", "session"])
def mode(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def pooled(server: str, raw_database: str, mode: str) -> Iterator[str]:
    """An empty database, through PgBouncer in that mode."""
    if poolers.PROGRAM is None:
        pytest.skip("PgBouncer is not here: apt-get install pgbouncer")
    with poolers.pgbouncer(server, mode=mode) as url:
        yield url.removesuffix("/postgres") + f"/{database_name(raw_database)}"


def test_a_pooler_is_refused_where_a_session_is_shared(pooled: str, raw_database: str, mode: str) -> None:
    if mode == "session":
        assert "functions/claim.sql" in migrate(pooled, environment="test")
        assert migrate(raw_database, environment="test", wait_seconds=30) == []
        return
    with pytest.raises(MigrationRefused, match="a pooler in transaction mode: set CRONTICK_MIGRATE_URL"):
        migrate(pooled, environment="test")
    with psycopg.connect(raw_database) as conn:
        assert conn.execute("select from pg_locks where locktype = 'advisory'").fetchone() is None
        assert conn.execute("select to_regnamespace('crontick')").fetchone() == (None,)
