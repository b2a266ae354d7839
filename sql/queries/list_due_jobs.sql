-- What a tick would claim now, in the order of its claims. Reads only; meant for people, so it may look at many rows.
with due as materialized (
    select
        j.id, j.kind, j.queue,
        row_number() over (order by j.held_by = 'suspect' is true, j.priority desc, j.run_at, j.id) as nth
    from crontick.unfinished_jobs as j
    where
        j.status in ('queued', 'failed')
        and j.kind = any(%(known)s)
        and (%(queues)s::text[] is null or j.queue = any(%(queues)s::text[]))
        and (j.expires_at is null or j.expires_at > crontick.now())
        and (
            (
                %(jobs)s::bigint[] is null
                and j.run_at <= crontick.now()
                and (j.held_by is null or j.held_by = 'suspect' or j.held_by like 'limit:%%')
            )
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
    order by nth
    limit 10000
)

select due.id, due.kind, due.queue
from due
where
    %(limits)s::jsonb is null
    or due.id = any(crontick.with_room((select array_agg(d.id order by d.nth) from due as d), %(limits)s::jsonb))
order by due.nth
limit %(most)s
