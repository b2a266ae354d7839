"""The floor: raw psycopg doing the same claims and settles on the same storage, with no engine round it.

Prepared statements, settle and claim in one transaction of one pipeline: what a hand-written loop could reach at best.
"""

from typing import Any, Final

import psycopg

_CLAIM: Final = """
update crontick.unfinished_jobs as j
set status = 'running', attempt = j.attempt + 1, claim = %(claim)s, claimed_at = now(), updated_at = now(),
    started_at = now(), lease_expires_at = now() + interval '40 seconds'
where j.id = any(array(
    select d.id from crontick.unfinished_jobs as d
    where d.queue = 'default' and d.priority = 0 and d.due_at < 'infinity' and d.due_at <= now() and d.status = 'queued'
    order by d.due_at, d.id limit %(batch)s for update skip locked
))
returning j.id, j.kind, j.payload::text, j.attempt
"""
_SETTLE: Final = """
with ended as (
    delete from crontick.unfinished_jobs as j
    using unnest(%(ids)s::bigint[], %(claims)s::bigint[]) as e (id, claim)
    where j.id = e.id and j.claim = e.claim and j.status = 'running'
    returning j.*
)
insert into crontick.finished_jobs (
    id, claim, run_at, created_at, started_at, claimed_at, finished_at, priority, attempt, kind, queue, status, payload
)
select e.id, e.claim, e.run_at, e.created_at, e.started_at, e.claimed_at, now(), e.priority, e.attempt, e.kind, e.queue,
    'succeeded', e.payload
from ended as e
"""


async def drain(url: str, batch: int) -> int:
    """Claim and settle until nothing is due; how many jobs that were."""
    done, claim = 0, 0
    taken: list[tuple[Any, ...]] = []
    async with await psycopg.AsyncConnection.connect(url, autocommit=True, prepare_threshold=0) as conn:
        while True:
            ids = [row[0] for row in taken]
            async with conn.pipeline(), conn.transaction():
                if ids:
                    await conn.execute(_SETTLE, {"ids": ids, "claims": [claim] * len(ids)})
                claim += 1
                cursor = await conn.execute(_CLAIM, {"claim": claim, "batch": batch})
                taken = await cursor.fetchall()
            if not taken:
                return done
            done += len(taken)
