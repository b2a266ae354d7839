-- A report's query reads, is given so many milliseconds, and says what it finds in the same words wherever it runs.
select
    set_config('transaction_read_only', 'on', true) is not null,
    set_config('statement_timeout', %(statement_timeout_ms)s, true) is not null,
    set_config('lock_timeout', '1000', true) is not null,
    set_config('client_encoding', 'UTF8', true) is not null,
    set_config('timezone', 'UTC', true) is not null,
    set_config('datestyle', 'ISO, YMD', true) is not null,
    set_config('intervalstyle', 'iso_8601', true) is not null,
    set_config('bytea_output', 'hex', true) is not null,
    set_config('extra_float_digits', '1', true) is not null
