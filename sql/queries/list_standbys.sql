-- Who copies this database, and whether a commit waits for any of them.
select
    coalesce(nullif(r.application_name, ''), r.pid::text) as name,
    coalesce(r.sync_state, 'unknown') as sync_state
from pg_catalog.pg_stat_replication as r
where r.state is distinct from 'backup'
order by r.application_name, r.pid
