"""A boot-time clock that a freeze moves by a minute, as the platform's own may; a test cannot wait so long."""

import os
import time
from typing import Any, Final

_REAL: Final = time.clock_gettime


def _seen_frozen() -> bool:
    """Whether the database of the test was moved ahead, which is when the process stood still."""
    import psycopg

    with psycopg.connect(os.environ["CRONTICK_DATABASE_URL"]) as conn:
        row: Any = conn.execute("select ahead > '30 seconds' from crontick.test_clock").fetchone()
    return bool(row and row[0])


def _moved(clock: int) -> float:
    return _REAL(clock) + (60 if clock == time.CLOCK_BOOTTIME and _seen_frozen() else 0)


time.clock_gettime = _moved
