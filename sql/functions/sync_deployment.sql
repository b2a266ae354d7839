-- Make a deployment known: its kinds, by which an enqueue from any language finds queue and priority.
create function crontick.sync_deployment(p_hash text, p_version text, p_kinds jsonb, p_strict boolean) returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now constant timestamptz := crontick.now();
begin
    insert into crontick.deployments (hash, version, kinds, first_seen_at, last_seen_at)
    select p_hash, p_version, coalesce(array_agg(k.name order by k.name), '{}'), v_now, v_now
    from jsonb_to_recordset(p_kinds) as k (name text)
    on conflict do nothing;
    insert into crontick.kinds as known (name, queue, priority, max_attempts, seen_at)
    select k.name, k.queue, k.priority, k.max_attempts, v_now
    from jsonb_to_recordset(p_kinds) as k (name text, queue text, priority int, max_attempts int)
    order by k.name
    on conflict (name) do update
    set queue = excluded.queue, priority = excluded.priority, max_attempts = excluded.max_attempts, seen_at = excluded.seen_at;
    update crontick.installation as i set strict_kinds = p_strict where i.strict_kinds <> p_strict;
end
$$;
