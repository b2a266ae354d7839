-- Dead jobs that wait for a person.
create or replace view crontick.dead_letters as
select
    f.id, f.kind, f.queue, f.payload, f.attempt, f.last_error, f.last_error_at, f.last_status_code, f.finished_at, f.created_at,
    f.requeued_from, f.group_key, f.unique_key
from crontick.finished_jobs as f
where f.status = 'dead' and f.resolution is null;
