-- As close_breaker, and whatever is known of that target is forgotten.
create function crontick.reset_breaker(target text, by text, reason text default null) returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
    if not crontick.shut_breaker('reset_breaker', reset_breaker.target, reset_breaker.by, reset_breaker.reason, true) then
        perform crontick.missing_breaker(reset_breaker.target);
    end if;
end
$$;
