-- Unfinished jobs and dead letters by queue, kind and status, and since when the oldest is due. A limit is one hold, however many
-- lines it has.
create or replace view crontick.overview as
select
    j.queue, j.kind, j.status, hold.name as held_by, count(*) as jobs,
    min(j.run_at) filter (where j.status <> 'running' and j.run_at <= crontick.now()) as oldest_due_at
from crontick.unfinished_jobs as j
cross join
    lateral (
        select case when left(j.held_by, 6) = 'limit:' then left(j.held_by, -33) else j.held_by end as name
    ) as hold
group by j.queue, j.kind, j.status, hold.name
union all
select f.queue, f.kind, f.status, null, count(*), null
from crontick.finished_jobs as f
where f.status = 'dead' and f.resolution is null
group by f.queue, f.kind, f.status;
