"""Whether those who stay and listen for jobs are there, and hear."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Final

from crontick.handler.cli.screen import Row
from crontick.handler.doctor.finding import WATCHERS, Finding
from crontick.handler.lengths import lasting

GONE: Final = timedelta(minutes=1)
"""A watcher says every 20 s that it lives."""
SELDOM: Final = timedelta(minutes=5)


def watchers(rows: Sequence[Row]) -> Iterator[Finding]:
    """``rows`` as ``list_watchers`` answers them. One that was told to end has none; one that was killed has."""
    there = [row for row in rows if row["silent"] <= GONE]
    if rows and not there:
        yield Finding(
            WATCHERS,
            f"the last watcher, process {rows[0]['process']} of {rows[0]['host']}, has been silent for"
            f" {lasting(rows[0]['silent'])}, and was not told to end",
            "start `crontick watch` again, and let something restart it whatever ends it: docs/watch.md",
        )
    for row in there:
        if not row["listens"]:
            yield Finding(
                WATCHERS,
                f"the watcher on {row['host']} cannot listen through its pooler: it polls"
                f" every {lasting(row['every'])}",
                "set CRONTICK_LISTEN_URL to the database's direct URL, or to the pooler's in session mode",
                wrong=row["every"] > SELDOM,
            )
