-- The latest runs of reports that have begun.
select
    r.id, r.report, r.status, r.format, r.gzip, r.row_count, r.rows_expected, r.byte_count, r.parts, r.started_at, r.finished_at,
    r.job, r.last_error
from crontick.report_runs as r
where
    r.id in (
        select f.run
        from crontick.report_files as f
        order by f.started_at desc, f.run desc
        limit %(at_most)s
    )
order by r.started_at desc, r.id desc
