-- The next part of a run's file, and how far the run is with it. A process that falls silent before it commits keeps the file's row
-- from the next attempt for ten seconds, not for as long as its connection is thought to live.
select f.row_count, f.rows_expected, set_config('idle_in_transaction_session_timeout', '10s', true) as idle_at_most
from crontick.append_report_part(
    run => %(run)s, part => %(part)s, content => %(content)s, row_count => %(row_count)s, last_key => %(last_key)s,
    rows_expected => %(rows_expected)s, next_job => %(next_job)s
) as f
