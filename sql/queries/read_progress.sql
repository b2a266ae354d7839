-- How far a job is; of a report, how far its run is, which goes on when its first job has succeeded.
with asked as (
    select j.id, j.status, j.progress_done, j.progress_total, j.last_error
    from crontick.jobs as j
    where j.id = %(id)s
),

run as (
    select r.id, r.status, r.row_count, r.rows_expected, r.last_error
    from crontick.report_runs as r
    where r.id = %(id)s
)

select
    coalesce(run.status, asked.status) as status, coalesce(run.row_count, asked.progress_done) as done,
    coalesce(run.rows_expected, asked.progress_total) as total, coalesce(run.last_error, asked.last_error) as last_error,
    coalesce(run.status, asked.status) in ('succeeded', 'dead', 'cancelled', 'expired') or coalesce(run.status = 'failed', false)
        as ended
from asked
left join run on asked.id = run.id
