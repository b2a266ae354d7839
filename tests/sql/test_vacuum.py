"""Tables through which every job goes are vacuumed early, and keep the room that the next jobs need."""

import pytest

from tests.sql.conftest import Sql

OPTIONS = """
select c.relname::text, array(select o.option_name || '=' || o.option_value from pg_options_to_table(c.reloptions) as o)
from pg_class as c where c.oid = 'crontick.{table}'::regclass
"""


@pytest.mark.parametrize("table", ["unfinished_jobs", "claims", "group_calls", "unsealed", "unique_keys"])
def test_what_comes_and_goes_with_each_job_is_vacuumed_at_full_speed_and_locks_nobody_out(sql: Sql, table: str) -> None:
    [(_, options)] = sql.rows(OPTIONS.format(table=table))
    told = dict(option.split("=") for option in options)
    assert (told["vacuum_truncate"], told["autovacuum_vacuum_cost_delay"]) == ("off", "0")
    assert float(told["autovacuum_vacuum_scale_factor"]) <= 0.05
    assert int(told["autovacuum_vacuum_threshold"]) <= 1000


@pytest.mark.parametrize(("table", "most"), [("finished_jobs", 0.02), ("attempts", 0.02), ("markers", 0.05)])
def test_what_retention_deletes_is_vacuumed_before_its_index_is_long_dead(sql: Sql, table: str, most: float) -> None:
    [(_, options)] = sql.rows(OPTIONS.format(table=table))
    assert float(dict(option.split("=") for option in options)["autovacuum_vacuum_scale_factor"]) <= most


def test_large_payloads_are_vacuumed_with_their_jobs(sql: Sql) -> None:
    toast = "select reltoastrelid from pg_class where oid = 'crontick.unfinished_jobs'::regclass"
    [(options,)] = sql.rows(f"select reloptions from pg_class where oid = ({toast})")
    assert {"vacuum_truncate=off", "autovacuum_vacuum_cost_delay=0"} <= set(options)
