-- The attempts of a job that are kept, in their order.
select
    a.number, a.tick,
    (
        select t.trigger from crontick.ticks as t
        where t.id = a.tick
    ) as trigger,
    a.started_at, a.ended_at, a.ended_at - a.started_at as took, a.outcome, a.status_code, a.retry_at, a.provider,
    a.provider_message_id, a.error
from crontick.attempts as a
where a.job = %(id)s
order by a.number, a.ended_at
