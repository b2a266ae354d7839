-- Retention finds what succeeded long ago by a row an exchange. An index over the finished jobs themselves would cost each of them
-- an entry, and a tenth more WAL.

create table crontick.successes (
    ended_at timestamptz not null,
    job_ids bigint[] not null
) with (vacuum_truncate = off, autovacuum_vacuum_scale_factor = 0.02);
comment on table crontick.successes is 'The jobs that one exchange settled as succeeded: retention finds them by it.';
create index successes_ended on crontick.successes (ended_at);

drop index crontick.finished_jobs_ended;
create index finished_jobs_cancelled on crontick.finished_jobs (finished_at) where status = 'cancelled';

insert into crontick.successes (ended_at, job_ids)
select max(f.finished_at), array_agg(f.id)
from crontick.finished_jobs as f
where f.status = 'succeeded'
group by date_bin('1 hour', f.finished_at, '2000-01-01'), f.id / 1000;
