"""What the database knows of jobs and of the last hour's ticks, as gauges with bounded labels."""

from collections import Counter
from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import Any, Final

from crontick.handler.operate.kind_times import TICKS_AT_MOST, KindTimes, list_kind_times
from crontick.handler.operate.prometheus import Gauge
from crontick.handler.operate.reads import Connection, list_work, read, read_state
from crontick.handler.operate.states import State, Work
from crontick.jobs.deployment import Deployment
from crontick.sql import VERSION, query

RECENT: Final = timedelta(hours=1)
STATEMENT_TIMEOUT_MS: Final = "5000"
ENDS: Final = (
    *("succeeded", "failed", "dead", "snoozed", "cancelled", "handed_back", "duplicates", "rescued", "lost"),
)
OTHER: Final = "other"
WORK_LOOKED_AT: Final = 10_000
"""Longer than a page may take: a backlog is to be seen growing."""


async def gather(conn: Connection, deployment: Deployment) -> list[Gauge]:
    """One transaction, no longer than its time-outs allow. Raises ``NotDone`` where nothing was migrated."""
    async with conn.transaction():
        limits = {"statement_timeout_ms": STATEMENT_TIMEOUT_MS}
        await conn.execute(query("bound_segment").text.encode(), limits)
        state = await read_state(conn)
        paused = await read(conn, "list_pauses", {})
        work = await list_work(conn, WORK_LOOKED_AT)
        values = {"within_seconds": RECENT.total_seconds(), "at_most": TICKS_AT_MOST}
        recent = await read(conn, "read_recent_ticks", values)
        times = await list_kind_times(conn, RECENT)
    return [*_now(state, len(paused)), *_work(work, deployment), *_ticks(recent), *_kinds(times, deployment)]


def _now(state: State, paused: int) -> list[Gauge]:
    last: list[tuple[dict[str, str], float]] = (
        [] if state.last_tick_at is None else [({}, state.last_tick_at.timestamp())]
    )
    return [
        Gauge("crontick_build_info", "1; which release answers.", [({"version": VERSION}, 1)]),
        Gauge("crontick_last_tick_timestamp_seconds", "When the last tick began, in Unix time.", last),
        Gauge("crontick_doubts", "Messages of which nobody knows whether they were sent.", [({}, state.doubts)]),
        Gauge("crontick_open_breakers", "Targets that are not called for the time being.", [({}, state.open_breakers)]),
        Gauge("crontick_blocked_groups", "Groups whose first job keeps others waiting.", [({}, state.blocked_groups)]),
        Gauge("crontick_disabled_endpoints", "Endpoints that were disabled.", [({}, state.disabled_endpoints)]),
        Gauge("crontick_paused", "Pauses in force.", [({}, paused)]),
    ]


def _work(work: list[Work], deployment: Deployment) -> list[Gauge]:
    kinds, queues = deployment.kinds, _queues(deployment)
    jobs: Counter[tuple[str, str, str]] = Counter()
    held: Counter[str] = Counter()
    cut: set[tuple[str, str, str]] = set()
    oldest: dict[str, float] = {}
    for row in work:
        queue, kind = _named(row.queue, queues), _named(row.kind, kinds)
        jobs[queue, kind, row.status] += row.jobs
        if row.or_more:
            cut.add((queue, kind, row.status))
        if row.held_by is not None:
            held[row.held_by.partition(":")[0]] += row.jobs
        elif row.oldest_due is not None:
            oldest[queue] = max(oldest.get(queue, 0.0), row.oldest_due.total_seconds())
    by_state = [({"queue": q, "kind": k, "status": s}, float(n)) for (q, k, s), n in sorted(jobs.items())]
    at_least = [({"queue": q, "kind": k, "status": s}, 1.0) for q, k, s in sorted(cut)]
    return [
        Gauge("crontick_jobs", "Unfinished jobs, and dead ones that wait for a decision.", by_state),
        Gauge(
            "crontick_jobs_or_more", "1 where there are more than crontick_jobs says: not all are counted.", at_least
        ),
        Gauge("crontick_held_jobs", "Jobs that wait for something else than a tick.", _by("held_by", held)),
        Gauge("crontick_oldest_due_seconds", "For how long the oldest due job is due.", _by("queue", oldest)),
    ]


def _ticks(recent: list[dict[str, Any]]) -> list[Gauge]:
    ends = {end: float(sum(row[end] for row in recent)) for end in ENDS}
    return [
        Gauge(
            "crontick_recent_ticks",
            "Ticks of the last hour, by how they ended.",
            _by("ended", {row["ended"]: row["ticks"] for row in recent}),
        ),
        Gauge("crontick_recent_tick_max_seconds", "The longest tick of the last hour.", _most(recent, "longest")),
        Gauge(
            "crontick_recent_late_max_seconds",
            "How late the latest trigger of the last hour was.",
            _most(recent, "latest"),
        ),
        Gauge(
            "crontick_recent_claimed_jobs",
            "Jobs claimed in the last hour.",
            [({}, sum(row["claimed"] for row in recent))],
        ),
        Gauge("crontick_recent_attempts", "Attempts of the last hour, by how they ended.", _by("outcome", ends)),
    ]


def _kinds(times: list[KindTimes], deployment: Deployment) -> list[Gauge]:
    known = [time for time in times if time.kind in deployment.kinds]

    def each(value: Callable[[KindTimes], float]) -> list[tuple[dict[str, str], float]]:
        return [({"kind": time.kind}, value(time)) for time in known]

    half, nearly_all = each(lambda t: t.p50.total_seconds()), each(lambda t: t.p95.total_seconds())
    return [
        Gauge("crontick_recent_kind_attempts", "Attempts of the last hour that began.", each(lambda t: t.attempts)),
        Gauge("crontick_recent_kind_failures", "Those that ended failed or dead.", each(lambda t: t.failed + t.dead)),
        Gauge("crontick_recent_attempt_p50_seconds", "Half of the last hour's attempts took this at most.", half),
        Gauge("crontick_recent_attempt_p95_seconds", "95 of 100 attempts took this at most.", nearly_all),
        Gauge(
            "crontick_recent_attempt_max_seconds",
            "The longest attempt of the last hour.",
            each(lambda t: t.longest.total_seconds()),
        ),
    ]


def _queues(deployment: Deployment) -> set[str]:
    return {kind.queue for kind in deployment.kinds.values()} | set(deployment.config.queues)


def _named(name: str, known: Iterable[str]) -> str:
    """A name that anybody could enqueue must not become a time series of its own (P34)."""
    return name if name in known else OTHER


def _by(label: str, counts: dict[str, Any]) -> list[tuple[dict[str, str], float]]:
    return [({label: name}, float(value)) for name, value in sorted(counts.items())]


def _most(recent: list[dict[str, Any]], column: str) -> list[tuple[dict[str, str], float]]:
    found = [row[column].total_seconds() for row in recent if row[column] is not None]
    return [({}, max(found))] if found else []
