-- When a tick next has something to do; null: never.
with paused as (
    select array_agg(p.name) as queues from crontick.pauses as p
    where p.what = 'queue'
)

select crontick.next_due(crontick.now(), coalesce(p.queues, '{}')) as next_due_at from paused as p
