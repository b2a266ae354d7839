"""``make bench-page``: how long each page and each read takes over five million finished jobs and 100,000 others."""

import statistics
import sys
import time
from collections.abc import Callable
from typing import Final

import msgspec
import psycopg

from crontick.handler.dashboard.routes import READS
from crontick.handler.front import front_door
from crontick.handler.operate.routes import ROUTES
from crontick.jobs.deployment import load_deployment
from crontick.sql.embedded import postgres
from crontick.sql.migrate import migrate
from tests.bench.shop import fill_shop
from tests.dashboard.asking import Asker
from tests.door.serving import ADMIN, SETTINGS, Answer, served

_FINISHED: Final = 5_000_000
_UNFINISHED: Final = 100_000
_ROUNDS: Final = 7
_AT_MOST_MS: Final = 200
_SETTINGS: Final = {"fsync": "off", "full_page_writes": "off", "max_wal_size": "4GB", "shared_buffers": "1GB"}
_SEARCHES: Final = (
    "jobs?status=failed",
    "jobs?status=succeeded&kind=resize_image",
    "jobs?error=no+such+text",
    "dead?kind=deliver_webhook",
    "dead?error=crm3",
    "ticks?trigger=github-actions",
)
_CHOICE: Final = {"do": "requeue", "kind": "deliver_webhook"}


def main() -> int:
    """1 when the median of a page is over the bound."""
    with postgres(settings=_SETTINGS) as url:
        migrate(url, environment="test")
        with psycopg.connect(url, autocommit=True) as conn:
            fill_shop(conn, finished=_FINISHED, unfinished=_UNFINISHED)
        return measured(url)


def measured(url: str) -> int:
    """The table; how many medians are over the bound."""
    missed = 0
    print(f"{_FINISHED:,} finished jobs, {_UNFINISHED:,} unfinished ones, {_ROUNDS} requests each, milliseconds")
    print(f"{'median':>8} {'worst':>8}")
    settings = msgspec.structs.replace(SETTINGS, database_url=url, environment="test")
    deployment = load_deployment(settings)
    with served(front_door(settings, lambda: deployment)) as address:
        asker = Asker(address)
        asker.log_in()
        for name, ask in requests(asker, finished=_FINISHED):
            ask()
            times_ms = sorted(_timed_ms(ask) for _ in range(_ROUNDS))
            median = statistics.median(times_ms)
            missed += median > _AT_MOST_MS
            print(f"{median:8.0f} {times_ms[-1]:8.0f}  {name}{'  MISSED' if median > _AT_MOST_MS else ''}", flush=True)
    return missed


def requests(asker: Asker, *, finished: int) -> list[tuple[str, Callable[[], Answer]]]:
    """Every page, search and read by its name, over a shop with so many finished jobs."""
    job = 250  # dead, and waits for a decision
    pages = [path.replace("N", str(job)) for path in READS if path != "reminders/preview"]
    unfinished = [f"jobs/{finished + nth}" for nth in (5, 6, 7, 8, 9, 1019)]
    found = [_get(asker, f"/dashboard/{path}".rstrip("/")) for path in (*pages, *unfinished, *_SEARCHES)]
    found += [("POST /dashboard/dead/preview", lambda: asker.post("/dashboard/dead/preview", _CHOICE))]
    reads = [route.path.replace("{id}", str(job)) for route in ROUTES if route.method == "GET"]
    token = {"authorization": f"Bearer {ADMIN}"}
    return found + [_get(asker, path, **token) for path in (*reads, "/metrics")]


def _get(asker: Asker, path: str, **headers: str) -> tuple[str, Callable[[], Answer]]:
    return f"GET {path}", lambda: asker.get(path, **headers)


def _timed_ms(ask: Callable[[], Answer]) -> float:
    begun = time.perf_counter()
    answer = ask()
    took = (time.perf_counter() - begun) * 1000
    if answer.status != 200:
        raise SystemExit(answer.body.decode())
    return took


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
