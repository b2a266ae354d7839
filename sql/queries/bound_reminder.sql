-- A user's query reads, and is given so many milliseconds.
select
    set_config('transaction_read_only', 'on', true) is not null,
    set_config('statement_timeout', %(statement_timeout_ms)s, true) is not null,
    set_config('lock_timeout', '1000', true) is not null
