-- The lines in which jobs wait for a limit, one for each value of its key. next_room_at is null where one that runs has to end first.
create or replace view crontick.limits as
select
    l.limit_name as name, l.key, l.said as says, line.waiting, line.oldest_due_at, nullif(l.look_at, 'infinity') as next_room_at
from crontick.limit_lines as l
cross join
    lateral (
        select count(*) as waiting, min(j.run_at) as oldest_due_at
        from crontick.unfinished_jobs as j
        where j.held_by = l.hold and j.held_by like 'limit:%'
    ) as line
where l.look_at is not null and line.waiting > 0;
