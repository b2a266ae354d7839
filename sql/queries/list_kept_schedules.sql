-- Schedules that something keeps from their slots, and that nobody paused.
select s.name, s.why
from crontick.schedules as s
where
    s.removed_at is null and s.paused_at is null and (
        s.error is not null or s.skips_in_a_row >= 3
        or not exists (
            select
            from crontick.kinds as k
            where k.name = s.kind and k.seen_at > crontick.now() - interval '1 day'
        )
    )
order by s.name
