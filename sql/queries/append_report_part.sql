-- The next part of a run's file, and how far the run is with it.
select f.row_count, f.rows_expected
from crontick.append_report_part(
    run => %(run)s, part => %(part)s, content => %(content)s, row_count => %(row_count)s, last_key => %(last_key)s,
    rows_expected => %(rows_expected)s, next_job => %(next_job)s
) as f
