-- What held_by says of jobs that wait for this target: short, however long a URL is.
create or replace function crontick.breaker_hold(p_target text) returns text
language sql immutable
as $$
    select 'breaker:' || left(encode(sha256(convert_to(p_target, 'UTF8')), 'hex'), 32)
$$;
