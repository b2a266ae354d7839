-- What keeps vacuum from removing rows that ended long ago, the oldest first: sessions, prepared transactions, replication slots.
select held.what, held.name, held.doing, statement_timestamp() - held.since as age
from (
    select
        'session' as what,
        s.pid::text as name,
        concat_ws(' ', s.usename, nullif(s.application_name, ''), s.state) as doing,
        s.xact_start as since
    from pg_catalog.pg_stat_activity as s
    where
        s.datname = current_database() and s.pid <> pg_backend_pid()
        and s.backend_type in ('client backend', 'parallel worker') and (s.backend_xmin is not null or s.backend_xid is not null)
        and s.xact_start <= statement_timestamp() - %(old)s::interval
    union all
    select 'prepared transaction', p.gid, p.owner::text, p.prepared
    from pg_catalog.pg_prepared_xacts as p
    where p.database = current_database() and p.prepared <= statement_timestamp() - %(old)s::interval
    union all
    select 'slot', r.slot_name::text, r.slot_type, null::timestamptz
    from pg_catalog.pg_replication_slots as r
    where not r.active and not r.temporary
) as held
order by held.since, held.what, held.name
