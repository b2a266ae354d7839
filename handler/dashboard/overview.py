"""The first page: does it tick, is it late, does anything wait for a person."""

from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from crontick.handler.dashboard import pictures
from crontick.handler.dashboard.visit import Page, Visit
from crontick.handler.operate import reads
from crontick.handler.operate.asked import Asked, ListTicks
from crontick.handler.operate.kind_times import list_kind_times
from crontick.handler.operate.states import COUNTED, COUNTED_GROUPS, Work
from crontick.handler.operate.ticking import Tick

COLUMNS: Final = ("queued", "running", "failed", "held", "dead")
_TICKS: Final = 500
_DRAWN: Final = 60


async def overview(visit: Visit) -> Page:
    """Counts, the last tick, pictures."""
    state, work = await reads.read_state(visit.conn), await reads.list_work(visit.conn)
    paused = (await reads.list_pauses(visit.conn, Asked())).paused
    ticks = (await reads.list_ticks(visit.conn, ListTicks(limit=_TICKS))).ticks
    [due] = await reads.read(visit.conn, "read_next_due", {})
    kinds = await list_kind_times(visit.conn, ticks_at_most=_TICKS)
    came = [tick for tick in ticks if tick.ended != "busy"]
    drawn = [
        pictures.outcomes(came[:_DRAWN]),
        pictures.ages(work),
        pictures.gaps(came),
        pictures.durations(kinds),
    ]
    values = {
        "state": state,
        "queues": by_queue(work),
        "cut": {(row.queue, _column(row)) for row in work if row.or_more},
        "columns": COLUMNS,
        "counted": COUNTED,
        "counted_groups": COUNTED_GROUPS,
        "paused": paused,
        "next_due_at": due["next_due_at"],
        "late": lateness(came),
        "pictures": drawn,
    }
    return Page("overview.html", values)


def by_queue(work: Sequence[Work]) -> dict[str, Counter[str]]:
    """How many jobs of each queue are in which state; what is held counts as that."""
    queues: dict[str, Counter[str]] = {}
    for row in work:
        queues.setdefault(row.queue, Counter())[_column(row)] += row.jobs
    return queues


def _column(row: Work) -> str:
    return "held" if row.held_by else row.status


def lateness(ticks: Sequence[Tick]) -> timedelta | None:
    """How late half of the triggers that said when they were due came, at most."""
    late = sorted(tick.late for tick in ticks if tick.late is not None)
    return late[len(late) // 2] if late else None
