-- The latest runs of reports that have begun; each is looked up by itself, for a join would walk over all finished jobs.
select
    r.id, r.report, r.status, r.format, r.gzip, r.row_count, r.rows_expected, r.byte_count, r.parts, r.started_at, r.finished_at,
    r.job, r.last_error
from (
    select f.run
    from crontick.report_files as f
    order by f.started_at desc, f.run desc
    limit %(at_most)s
) as latest
cross join
    lateral (
        select one.*
        from crontick.report_runs as one
        where one.id = latest.run
        order by one.id
        limit 1
    ) as r
order by r.started_at desc, r.id desc
