-- No breaker of that target is open, or known.
create function crontick.missing_breaker(p_target text) returns void
language plpgsql immutable
as $$
begin
    raise exception 'no breaker of % is open', p_target using errcode = 'CT404', hint = '`crontick breakers` shows them';
end
$$;
