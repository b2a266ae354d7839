-- The advisory lock that goes with an endpoint's pause. Whoever pauses or resumes it holds the lock to the end of his
-- transaction; a tick, which must not wait for him (P2), only tries it.
create or replace function crontick.endpoint_lock(p_name text) returns bigint
language sql immutable
as $$
    select hashtextextended('crontick endpoint ' || p_name, 0)
$$;
