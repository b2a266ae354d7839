"""``make bench``: drains and cold ticks on a PostgreSQL of their own, as a table with the bounds they are held to."""

import platform
import sys
from typing import Final
from urllib.parse import urlsplit, urlunsplit

import psycopg

from crontick.sql.embedded import postgres
from crontick.sql.migrate import migrate
from tests.bench.cold import cold_ticks
from tests.bench.drain import Drained, drain_in_turns, speed_kept
from tests.bench.rows import surround

_JOBS: Final = 20_000
_ROUNDS: Final = 9
_FLOOR_RATIO: Final = {500: 0.35, 100: 0.45}
_WAL_BYTES: Final = 620
_SURROUNDED: Final = 0.9
_COLD_RATIO: Final = 1.25
_SETTINGS: Final = {"full_page_writes": "off", "max_wal_size": "4GB", "shared_buffers": "512MB"}


def main() -> int:
    """1 when a bound is missed."""
    missed = 0
    print(f"Python {platform.python_version()}, {platform.machine()}, {_JOBS} jobs, best of {_ROUNDS}, {_SETTINGS}")
    with postgres(settings=_SETTINGS) as url:
        migrate(url, environment="test")
        cold = cold_ticks(url, rounds=15)
        with psycopg.connect(url, autocommit=True) as conn:
            conn.execute("create database crowded")
        crowded = urlunsplit(urlsplit(url)._replace(path="/crowded"))
        migrate(crowded, environment="test")
        with psycopg.connect(crowded, autocommit=True) as conn:
            surround(conn)
        alone, among = {}, {}
        for batch in _FLOOR_RATIO:
            alone[batch], among[batch] = drain_in_turns((url, crowded), jobs=_JOBS, batch=batch, rounds=_ROUNDS)
    for batch, least in _FLOOR_RATIO.items():
        for name, drains in (("alone", alone[batch]), ("among 1.4 million rows", among[batch])):
            missed += _told(f"{batch} a batch, {name}", *drains.best(), least)
    for batch in _FLOOR_RATIO:
        floor_kept, kept = speed_kept(alone[batch], among[batch])
        # What the other rows cost a hand-written loop, too, is PostgreSQL's: ours is what crontick loses beyond it.
        name = (
            f"{batch} a batch: speed kept among the other rows ({kept:.2f}) / the floor's ({floor_kept:.2f}, at most 1)"
        )
        missed += _bound(name, kept / min(floor_kept, 1.0), _SURROUNDED)
    bare_ms, cold_ms = cold
    print(f"idle tick in a fresh process: bare function {bare_ms:.0f} ms, crontick {cold_ms:.0f} ms")
    missed += _bound("bare / crontick", bare_ms / cold_ms, 1 / _COLD_RATIO)
    return 1 if missed else 0


def _told(name: str, floor: Drained, ours: Drained, least: float) -> int:
    print(
        f"{name}: floor {floor.jobs_per_second:,.0f} jobs/s and {floor.wal_bytes_per_job:.0f} bytes of WAL a job,"
        f" crontick {ours.jobs_per_second:,.0f} and {ours.wal_bytes_per_job:.0f}"
    )
    missed = _bound("crontick / floor", ours.jobs_per_second / floor.jobs_per_second, least)
    return missed + _bound(f"{_WAL_BYTES} bytes of WAL / crontick's", _WAL_BYTES / ours.wal_bytes_per_job, 1)


def _bound(name: str, ratio: float, least: float) -> int:
    held = ratio >= least
    print(f"    {'held  ' if held else 'MISSED'}  {name}: {ratio:.2f}, at least {least:.2f}")
    return not held


if __name__ == "__main__":
    sys.exit(main())
