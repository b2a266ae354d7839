-- The advisory lock under which alone a breaker's row is written. A person takes it to the end of his transaction; a tick, which
-- must not wait for him (P2), only tries it.
create or replace function crontick.breaker_lock(p_hold text) returns bigint
language sql immutable
as $$
    select hashtextextended('crontick ' || p_hold, 0)
$$;
