-- The endpoints by name: those of crontick.set_endpoint, of the crontick.toml of a deployment, and those that failed lately.
create function crontick.known_endpoints() returns text[]
language sql stable
as $$
    select coalesce(array_agg(distinct known.name), '{}')
    from (
        select e.name from crontick.webhook_endpoints as e
        union all
        select unnest(d.endpoints) from crontick.deployments as d
        union all
        select substr(b.target, 10) from crontick.breakers as b where b.target like 'endpoint:%'
    ) as known (name)
$$;
