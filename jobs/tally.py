"""How long the attempts of one tick took, and how many failed, kind by kind."""

from bisect import bisect_left
from collections.abc import Iterable
from typing import Final

import msgspec

from crontick.jobs.ending import Ending
from crontick.jobs.outcomes import Dead, Failed, HandedBack, Succeeded

__all__ = ["EDGES_MS", "KindTally", "Tally"]

EDGES_MS: Final = (10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 25_000, 60_000)
"""The upper edge of each bucket, itself inside; what took longer is in one more."""


class KindTally(msgspec.Struct):
    """The attempts of one kind that began. ``buckets`` ends with the last that has any."""

    n: int = 0
    failed: int = 0
    dead: int = 0
    ms_sum: int = 0
    ms_max: int = 0
    buckets: list[int] = []

    def add(self, milliseconds: int) -> None:
        """One more, which took so long."""
        self.n += 1
        self.ms_sum += milliseconds
        self.ms_max = max(self.ms_max, milliseconds)
        bucket = bisect_left(EDGES_MS, milliseconds)
        self.buckets += [0] * (bucket + 1 - len(self.buckets))
        self.buckets[bucket] += 1


class Tally:
    """Counts an ending when it is first told to the database, held or lost as it may be there: its time was spent."""

    def __init__(self) -> None:
        self.kinds: dict[str, KindTally] = {}

    def add(self, endings: Iterable[Ending]) -> None:
        """What called no function is not counted: a message sent before, an attempt that did not begin.

        What called complete is taken for committed: only the settle that this goes with finds out.
        """
        for ending in endings:
            outcome = ending.outcome
            if isinstance(outcome, HandedBack) and not outcome.began:
                continue
            if isinstance(outcome, Succeeded) and outcome.duplicate:
                continue
            kind = self.kinds.get(ending.ctx.kind.name)
            if kind is None:
                kind = self.kinds[ending.ctx.kind.name] = KindTally()
            kind.add(int(ending.ctx.took_seconds * 1000))
            kind.failed += isinstance(outcome, Failed) and not ending.completed
            kind.dead += isinstance(outcome, Dead) and not ending.completed

    def json(self) -> str | None:
        """For the tick's row; None where there is nothing to say."""
        return msgspec.json.encode(self.kinds).decode() if self.kinds else None
