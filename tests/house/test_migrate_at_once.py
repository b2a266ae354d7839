"""Twenty processes of a new release start at once: the schema is that of one."""

from collections.abc import Iterator

import psycopg
import pytest

from crontick.sql.migrate import MigrationRefused, migrate
from tests.conftest import made_database
from tests.worlds.process import Processes

MIGRATE = """
import sys
from crontick.sql.migrate import migrate
print(len(migrate(sys.argv[1], environment="test")))
"""

DESCRIBED = """
select format('%s.%s %s %s %s', c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
              pg_get_expr(d.adbin, d.adrelid))
from pg_attribute as a
join pg_class as c on c.oid = a.attrelid
left join pg_attrdef as d on d.adrelid = a.attrelid and d.adnum = a.attnum
where c.relnamespace = 'crontick'::regnamespace and a.attnum > 0 and not a.attisdropped
union all
select format('%s %s', conname, pg_get_constraintdef(oid)) from pg_constraint
where connamespace = 'crontick'::regnamespace
union all
select pg_get_indexdef(indexrelid) from pg_index as i
join pg_class as c on c.oid = i.indexrelid where c.relnamespace = 'crontick'::regnamespace
union all
select format('%s %s', pg_get_functiondef(oid), proacl) from pg_proc
where pronamespace = 'crontick'::regnamespace and prokind = 'f'
union all
select format('%s %s %s', relname, relacl, case relkind when 'v' then pg_get_viewdef(oid) end) from pg_class
where relnamespace = 'crontick'::regnamespace
union all
select format('%s %s', name, sha256) from crontick.ledger
union all
select format('%s %s %s', environment, version, oldest_code) from crontick.installation
order by 1
"""


@pytest.fixture
def other_database(server: str) -> Iterator[str]:
    with made_database(server) as url:
        yield url


def described(url: str) -> list[tuple[str]]:
    with psycopg.connect(url) as conn:
        return conn.execute(DESCRIBED).fetchall()


def test_twenty_that_migrate_at_once_make_the_schema_of_one(
    raw_database: str, other_database: str, processes: Processes
) -> None:
    ran = migrate(other_database, environment="test")
    children = [processes.start(MIGRATE, raw_database) for _ in range(20)]
    counts = []
    for child in children:
        assert child.wait(seconds=90) == 0, child.errors
        counts.append(int(child.line()))
    assert sorted(counts) == [0] * 19 + [len(ran)]
    assert described(raw_database) == described(other_database)


def test_one_that_hangs_keeps_the_others_for_a_bounded_time(database: str) -> None:
    with psycopg.connect(database, autocommit=True) as hangs:
        hangs.execute("select pg_advisory_lock(%s)", (int.from_bytes(b"crontick"),))
        with pytest.raises(MigrationRefused, match=r"held its lock for 0\.2 s: wait for it, or end its session"):
            migrate(database, environment="test", test_clock=True, wait_seconds=0.2)


def test_a_second_migration_has_nothing_to_do(database: str) -> None:
    assert migrate(database, environment="test", test_clock=True) == []
