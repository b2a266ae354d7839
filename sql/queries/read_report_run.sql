-- One run of a report.
select
    r.id, r.report, r.status, r.format, r.gzip, r.parts, r.row_count, r.rows_expected, r.byte_count, r.started_at, r.progressed_at,
    r.finished_at, r.job, r.last_error
from crontick.report_runs as r
where r.id = %(run)s
