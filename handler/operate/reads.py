"""What operators read: named queries in, typed rows out, on a connection of the caller's."""

from collections.abc import Mapping
from typing import Any, Final, TypeVar

import msgspec
import psycopg
from psycopg.rows import class_row, dict_row

from crontick.handler.operate import rows, states, ticking
from crontick.handler.operate.asked import (
    Asked,
    AtMost,
    ListAlerts,
    ListBreakers,
    ListDead,
    ListDoubts,
    ListJobs,
    ListTicks,
    OneJob,
)
from crontick.handler.operate.refused import NotDone
from crontick.jobs.secret_fields import shown
from crontick.sql import query

Connection = psycopg.AsyncConnection[Any]
Row = TypeVar("Row")

LOOK_AT: Final = 20_000
"""Jobs that one page looks at, whatever is searched: so many cost the same among a thousand and among millions."""
DEAD_LOOKED_AT: Final = 2_000
WORK_LOOKED_AT: Final = 5_000
NEXT_SLOTS: Final = 5
FIRING_AT_MOST: Final = 100
UNFINISHED: Final = frozenset({"queued", "running", "failed"})


async def list_jobs(conn: Connection, asked: ListJobs) -> rows.Jobs:
    """A page, short or empty where few of the jobs that were looked at are like that; ``below`` goes on."""
    values = {
        **_values(asked),
        "group_key": asked.group,
        "unfinished": asked.status in UNFINISHED,
        "finished": asked.status is not None and asked.status not in UNFINISHED,
        "look_at": LOOK_AT,
    }
    found = await read(conn, "list_jobs", values)
    floor = found[0]["floor"]
    jobs = [rows.Job(**_only(row, rows.Job)) for row in found if row["id"] is not None]
    below = jobs[-1].id if len(jobs) == asked.limit else floor
    return rows.Jobs(jobs=jobs, below=below, warning=None if jobs else found[0]["warning"])


async def read_job(conn: Connection, asked: OneJob) -> rows.WholeJob:
    """One job, its attempts and its markers. Raises ``NotDone``."""
    found = await read(conn, "read_job", {"id": asked.id})
    if not found:
        raise missing_job(asked.id)
    [fields] = found
    secret = fields.pop("secret")
    texts = {
        "payload": msgspec.Raw(shown(fields["payload"], secret).encode()),
        "result": msgspec.Raw((fields["result"] or "null").encode()),
    }
    attempts = await typed(conn, "list_attempts", rows.Attempt, {"id": asked.id})
    markers = await typed(conn, "list_markers", rows.Marker, {"id": asked.id})
    return rows.WholeJob(**{**fields, **texts}, attempts=attempts, markers=markers)


async def explain_job(conn: Connection, asked: OneJob) -> rows.Why:
    """One sentence. Raises ``NotDone``."""
    [answer] = await read(conn, "explain_job", {"id": asked.id})
    if not answer["known"]:
        raise missing_job(asked.id)
    return rows.Why(job=asked.id, why=answer["why"])


async def list_dead(conn: Connection, asked: ListDead) -> rows.DeadLetters:
    """Dead jobs that wait for a person: a page, short where few of them are like that; ``below`` goes on."""
    found = await read(conn, "list_dead_letters", {**_values(asked), "look_at": DEAD_LOOKED_AT})
    dead = [rows.DeadLetter(**_only(row, rows.DeadLetter)) for row in found if row["id"] is not None]
    return rows.DeadLetters(dead=dead, below=dead[-1].id if len(dead) == asked.limit else found[0]["floor"])


async def list_dead_groups(conn: Connection, _asked: Asked) -> rows.DeadGroups:
    """Dead letters by kind and error."""
    groups = await typed(conn, "list_dead_groups", rows.DeadGroup, {"look_at": DEAD_LOOKED_AT})
    return rows.DeadGroups(groups=groups, more=sum(group.jobs for group in groups) >= DEAD_LOOKED_AT)


async def list_doubts(conn: Connection, asked: ListDoubts) -> rows.Doubts:
    """Messages of which nobody knows whether they were sent."""
    return rows.Doubts(doubts=await typed(conn, "list_doubts", rows.Doubt, _values(asked)))


async def list_schedules(conn: Connection, _asked: Asked) -> states.Schedules:
    """Schedules in force, with their next five slots; none where an expression cannot be computed."""
    from crontick.jobs.fire import Due, next_slots

    told = []
    for row in await read(conn, "list_schedules", {}):
        due = Due(**{name: row[name] for name in Due.__struct_fields__})
        slots = next_slots(due, row["now"], NEXT_SLOTS)
        told.append(states.Schedule(**_only(row, states.Schedule), next=slots))
    return states.Schedules(schedules=told)


async def list_breakers(conn: Connection, asked: ListBreakers) -> states.Breakers:
    """Targets that failed lately."""
    return states.Breakers(breakers=await typed(conn, "list_breakers", states.Breaker, _values(asked)))


async def list_alerts(conn: Connection, asked: ListAlerts) -> states.Alerts:
    """What is wrong, as the last tick that looked found it, and what was."""
    return states.Alerts(alerts=await typed(conn, "list_alerts", states.Alert, _values(asked)))


async def list_limits(conn: Connection, asked: AtMost) -> states.Limits:
    """Lines in which jobs wait."""
    return states.Limits(limits=await typed(conn, "list_limits", states.Line, _values(asked)))


async def list_groups(conn: Connection, asked: AtMost) -> states.Groups:
    """Groups whose head keeps others waiting."""
    return states.Groups(groups=await typed(conn, "list_groups", states.Group, _values(asked)))


async def list_pauses(conn: Connection, _asked: Asked) -> states.Pauses:
    """What is paused or disabled."""
    return states.Pauses(paused=await typed(conn, "list_pauses", states.Pause, {}))


async def list_ticks(conn: Connection, asked: ListTicks) -> ticking.Ticks:
    """The last ticks."""
    ticks = await typed(conn, "list_ticks", ticking.Tick, _values(asked))
    return ticking.Ticks(ticks=ticks, below=ticks[-1].id if len(ticks) == asked.limit else None)


async def list_triggers(conn: Connection, _asked: Asked) -> ticking.Triggers:
    """Who calls ticks, how often, and how late."""
    return ticking.Triggers(triggers=await typed(conn, "list_triggers", ticking.Trigger, {}))


async def read_state(conn: Connection) -> states.State:
    """What a person asks first; raises ``NotDone`` where nothing was migrated."""
    found = await typed(conn, "read_state", states.State, {})
    if not found:
        raise NotDone("this database has no environment yet: run `crontick migrate`", "missing")
    return found[0]


async def read_overview(conn: Connection, _asked: Asked) -> states.Overview:
    """How things stand; raises ``NotDone`` where nothing was migrated."""
    state = await read_state(conn)
    breakers = await list_breakers(conn, ListBreakers(open_only=True))
    return states.Overview(
        state=state,
        work=await list_work(conn),
        paused=await typed(conn, "list_pauses", states.Pause, {}),
        breakers=breakers.breakers,
        alerts=(await list_alerts(conn, ListAlerts(active=True, limit=FIRING_AT_MOST))).alerts,
    )


async def list_work(conn: Connection, look_at: int = WORK_LOOKED_AT) -> list[states.Work]:
    """Unfinished jobs and dead letters, counted up to about so many."""
    return await typed(conn, "read_overview", states.Work, {"look_at": look_at})


def missing_job(job: int) -> NotDone:
    """No job has this id."""
    return NotDone(f"there is no job {job}: finished jobs are kept for a time only", "missing")


async def read(conn: Connection, name: str, values: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows of a query file."""
    async with conn.cursor(row_factory=dict_row) as cursor:
        await cursor.execute(query(name).text.encode(), values)
        return await cursor.fetchall()


async def typed(conn: Connection, name: str, row: type[Row], values: Mapping[str, Any]) -> list[Row]:
    """The same, as that type, which has the names of the columns."""
    async with conn.cursor(row_factory=class_row(row)) as cursor:
        await cursor.execute(query(name).text.encode(), values)
        return await cursor.fetchall()


def _values(asked: Asked) -> dict[str, Any]:
    values = msgspec.structs.asdict(asked)
    return {**values, "at_most": values["limit"]}


def _only(row: Mapping[str, Any], type_: type[msgspec.Struct]) -> dict[str, Any]:
    return {name: row[name] for name in type_.__struct_fields__ if name in row}
