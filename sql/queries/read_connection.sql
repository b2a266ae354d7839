-- What a connection leads to: behind a pooler the process is not the one that the connection was told of.
select
    pg_backend_pid() as process,
    pg_is_in_recovery() as in_recovery,
    current_setting('transaction_read_only') = 'on' as read_only
