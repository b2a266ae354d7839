-- What surrounds the jobs and may slow or endanger them. Ages are real, whatever the test clock says.
select
    i.environment,
    quote_ident(current_database()) as database,
    (select c.ahead from crontick.test_clock as c) as test_clock_ahead,
    i.prune_error,
    current_setting('fsync') = 'on' as fsync,
    current_setting('synchronous_commit') as synchronous_commit,
    current_setting('autovacuum') = 'on' and current_setting('track_counts') = 'on' as autovacuum,
    array(
        select c.relname::text
        from pg_catalog.pg_class as c
        where
            c.relnamespace = 'crontick'::regnamespace
            and lower(c.reloptions::text) ~ 'autovacuum_enabled=(false|off|no|0)'
        order by c.relname
    ) as unvacuumed_tables,
    hot.n_dead_tup as dead_rows,
    hot.n_live_tup as live_rows,
    statement_timestamp() - greatest(hot.last_vacuum, hot.last_autovacuum) as vacuum_age,
    pg_has_role('pg_read_all_stats', 'usage') as sees_all_sessions,
    (select count(*) from crontick.dead_letters) as dead_letters
from crontick.installation as i
left join pg_catalog.pg_stat_user_tables as hot on hot.relid = 'crontick.unfinished_jobs'::regclass
