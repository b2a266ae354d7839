-- What read_time_limits told, put back.
select
    set_config('lock_timeout', %(lock_timeout)s, true) as lock_timeout,
    set_config('statement_timeout', %(statement_timeout)s, true) as statement_timeout
