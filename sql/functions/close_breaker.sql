-- That target is called again, its held jobs first, in batches that grow. How often it opened is remembered: if it fails again it is
-- held for longer.
create function crontick.close_breaker(target text, by text, reason text default null) returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
    if not crontick.shut_breaker('close_breaker', close_breaker.target, close_breaker.by, close_breaker.reason, false) then
        perform crontick.missing_breaker(close_breaker.target);
    end if;
end
$$;
