-- An endpoint that is no more: jobs that name it fail with that sentence, and run again if it comes back in time.
create function crontick.drop_endpoint(name text, by text default null, reason text default null) returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_by constant text := coalesce(drop_endpoint.by, session_user::text);
begin
    perform crontick.check_actor(v_by, drop_endpoint.reason);
    delete from crontick.webhook_endpoints as e where e.name = drop_endpoint.name;
    if not found then
        raise exception 'there is no endpoint %', drop_endpoint.name using errcode = 'CT404', hint = '`crontick webhook list` shows them';
    end if;
    perform crontick.note('drop_endpoint', 'endpoint ' || drop_endpoint.name, null, v_by, drop_endpoint.reason, null);
end
$$;
