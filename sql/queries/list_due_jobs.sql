-- What a tick would claim now, in the order of its claims. Reads only; meant for people, so it may look at many rows.
select j.id, j.kind, j.queue
from crontick.unfinished_jobs as j
where
    j.status in ('queued', 'failed')
    and j.kind = any(%(known)s)
    and (%(queues)s::text[] is null or j.queue = any(%(queues)s::text[]))
    and (j.expires_at is null or j.expires_at > crontick.now())
    and (
        (%(jobs)s::bigint[] is null and j.run_at <= crontick.now() and (j.held_by is null or j.held_by = 'suspect'))
        or (j.id = any(%(jobs)s::bigint[]) and j.held_by is null)
    )
    and not exists (
        select
        from crontick.pauses as p
        where
            p.what = 'all'
            or (p.what = 'queue' and p.name = j.queue)
            or (p.what = 'kind' and p.name = j.kind)
            or (p.what = 'group' and p.name = j.group_key)
    )
order by j.held_by is not null, j.priority desc, j.run_at, j.id
limit %(most)s
