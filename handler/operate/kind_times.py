"""How long attempts took, kind by kind, as the rows of the last ticks tell it."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Final

import msgspec

from crontick.handler.operate.reads import Connection, read
from crontick.jobs.tally import EDGES_MS

TICKS_AT_MOST: Final = 2000


class KindTimes(msgspec.Struct, frozen=True, kw_only=True):
    """How the attempts of one kind went over the last ticks. Half of them took ``p50`` at most, 95 of 100 ``p95``."""

    kind: str
    attempts: int
    failed: int
    dead: int
    mean: timedelta
    p50: timedelta
    p95: timedelta
    longest: timedelta


async def list_kind_times(
    conn: Connection, within: timedelta = timedelta(days=1), *, ticks_at_most: int = TICKS_AT_MOST
) -> list[KindTimes]:
    """The kinds that ran within that time, by name; of more ticks than so many the last ones are looked at."""
    values = {"within_seconds": within.total_seconds(), "at_most": ticks_at_most}
    return [_times(row) for row in await read(conn, "list_kind_times", values)]


def quantile_ms(buckets: Sequence[int], share: float, longest_ms: int) -> float:
    """What that share of the attempts took at most: exact to the bucket, and inside it as if spread evenly."""
    rank = share * sum(buckets)
    below = 0
    for nth, attempts in enumerate(buckets):
        if attempts and below + attempts >= rank:
            least = EDGES_MS[nth - 1] if nth else 0
            most = min(EDGES_MS[nth], longest_ms) if nth < len(EDGES_MS) else longest_ms
            return least + (max(most, least) - least) * (rank - below) / attempts
        below += attempts
    return float(longest_ms)


def _times(row: dict[str, Any]) -> KindTimes:
    def at(share: float) -> timedelta:
        return timedelta(milliseconds=quantile_ms(row["buckets"], share, row["ms_max"]))

    return KindTimes(
        kind=row["kind"],
        attempts=row["attempts"],
        failed=row["failed"],
        dead=row["dead"],
        mean=timedelta(milliseconds=row["ms_sum"] / row["attempts"]),
        p50=at(0.5),
        p95=at(0.95),
        longest=timedelta(milliseconds=row["ms_max"]),
    )
