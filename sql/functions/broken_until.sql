-- Until when at least a job's target lets nothing start: infinity where a person has to say so, null where it does.
create function crontick.broken_until(p_kind text, p_payload jsonb) returns timestamptz
language sql stable
as $$
    select case b.state when 'half_open' then b.probe_until else coalesce(b.retry_at, 'infinity') end
    from crontick.breakers as b
    where b.hold = crontick.breaker_hold(crontick.target_of(p_kind, p_payload)) and b.state <> 'closed'
$$;
