-- The runs of reports. What became of an unfinished one is what became of the job of its latest part: nobody has to note it, so no
-- death can leave it untrue. A requeued copy of a dead one is followed. Last come jobs whose first part was not yet begun.
create or replace view crontick.report_runs as
select
    f.run as id, f.report,
    case
        when f.finished_at is not null then 'succeeded'
        when u.id is not null then 'running'
        when e.status = 'dead' then 'failed'
        when e.status = 'cancelled' and e.finished_at < coalesce(e.expires_at, 'infinity') then 'cancelled'
        else 'expired'
    end as status,
    f.format, f.gzip, f.parts, f.row_count, f.rows_expected, f.byte_count, f.started_at, f.progressed_at, f.finished_at,
    coalesce(u.id, f.job) as job,
    case when f.finished_at is null then coalesce(u.last_error, e.last_error) end as last_error
from crontick.report_files as f
left join crontick.finished_jobs as e on f.job = e.id
left join crontick.unfinished_jobs as u on coalesce(e.requeued_as, f.job) = u.id
union all
select
    j.id, j.payload ->> 'report', case j.status when 'dead' then 'failed' when 'cancelled' then 'cancelled' else 'queued' end,
    coalesce(j.payload ->> 'format', 'csv'), j.payload @> '{"gzip": true}', 0, 0, null, 0, null, null, null, j.id as job, j.last_error
from crontick.jobs as j
where
    j.kind = 'generate_report' and j.status <> 'succeeded' and not j.payload ? 'run' and j.requeued_from is null
    and not exists (
        select from crontick.report_files as f
        where f.run = j.id
    );
