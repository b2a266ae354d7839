"""Under ``crontick dev`` the schedules of the file are in force as it is now, whatever it was before."""

from pathlib import Path

import psycopg

from tests.dev.developing import develop, given
from tests.worlds.process import Processes
from tests.worlds.waiting import until

NIGHTLY = '[[schedule]]\nname = "nightly"\ncron = "0 3 * * *"\nkind = "wait"\npayload = { name = "Ada" }\n'


def test_an_edit_that_is_taken_back_is_in_force_again(processes: Processes, project: Path, database: str) -> None:
    file = project / "crontick.toml"
    file.write_text(NIGHTLY)
    dev = develop(processes, project, options=("--every", "1h"), env=given(database))
    dev.told("dev", "in another terminal")
    with psycopg.connect(database, autocommit=True) as conn:

        def in_force(cron: str) -> bool:
            return conn.execute("select cron from crontick.schedules").fetchall() == [(cron,)]

        until(lambda: in_force("0 3 * * *"))
        for cron in ("0 4 * * *", "0 3 * * *"):
            file.write_text(NIGHTLY.replace("0 3 * * *", cron))
            dev.told("dev", "reloaded: crontick.toml")
            until(lambda: in_force(cron))  # noqa: B023 (asked before the next turn)
    assert dev.end() == 0
