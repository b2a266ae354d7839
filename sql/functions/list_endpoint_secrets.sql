-- One page of the endpoints with what signs for them, for the walk that seals everything under the first key.
create or replace function crontick.list_endpoint_secrets(p_after text, p_rows int)
returns table (name text, secret text, old_secret text)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select e.name, e.secret, e.old_secret
    from crontick.webhook_endpoints as e
    where e.name > p_after
    order by e.name
    limit p_rows
$$;
