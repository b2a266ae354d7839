-- Why a job waits for its target, and when that is tried again; null where the breaker lets jobs start.
create function crontick.why_broken(p_breaker crontick.breakers, p_now timestamptz) returns text
language sql stable
as $$
    select case
        when p_breaker.state = 'open' and p_breaker.retry_at is null then format(
            'waits for %1$s, whose breaker %2$s opened at %3$s%4$s: `crontick breakers close %1$s`', p_breaker.target,
            p_breaker."by", to_char(p_breaker.changed_at, told.format), coalesce(' (' || p_breaker.reason || ')', '')
        )
        when p_breaker.state = 'open' and not exists (
            select from crontick.kinds as k where k.name = p_breaker.kind and k.seen_at > p_now - interval '1 day'
        ) then format(
            'waits for %s, which kept failing, and no deployment of the last day knows the kind %s, of which one job would try it: '
            'deploy code that has it (CRONTICK_MODULES)', p_breaker.target, p_breaker.kind
        )
        when p_breaker.state = 'open' then format(
            'waits for %1$s, which keeps failing (%2$s): one job tries it %3$s: `crontick breakers close %1$s` once it is well',
            p_breaker.target, p_breaker.reason,
            case when p_breaker.retry_at > p_now then 'at ' || to_char(p_breaker.retry_at, told.format) else 'in the next tick' end
        )
        when p_breaker.state = 'half_open' then format(
            'waits for %s, which kept failing and is tried by job %s just now: `crontick why %s`', p_breaker.target,
            p_breaker.probe_job, p_breaker.probe_job
        )
    end
    from (select 'YYYY-MM-DD HH24:MI:SS TZ' as format) as told
$$;
