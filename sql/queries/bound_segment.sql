-- No statement of this transaction waits for a lock or runs for long (P2).
select
    set_config('lock_timeout', '1000', true) is not null,
    set_config('statement_timeout', %(statement_timeout_ms)s, true) is not null
