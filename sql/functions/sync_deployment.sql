-- Make a deployment known: its kinds, by which an enqueue from any language finds queue and priority; and its schedules, which are
-- those in force from now on. False, and not yet known, where a schedule is held by another transaction.
create function crontick.sync_deployment(
    p_hash text, p_version text, p_kinds jsonb, p_strict boolean, p_schedules jsonb default null, p_digest text default '',
    p_expected_seconds float8 default null, p_endpoints text[] default '{}', p_limits jsonb default null, p_queue_seats jsonb default null
) returns boolean
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now constant timestamptz := crontick.now();
    v_secret constant text [] := array(
        select k.name
        from jsonb_to_recordset(p_kinds) as k (name text, secret text[])
        left join crontick.kinds as known on known.name = k.name
        where cardinality(k.secret) > 0 and not k.secret <@ coalesce(known.secret, '{}')
    );
    -- null: code that knows nothing of schedules leaves them as they are.
    v_in_force constant boolean := p_schedules is null or crontick.sync_schedules(p_hash, p_digest, p_schedules, v_now);
begin
    if v_in_force then
        insert into crontick.deployments (
            hash, version, kinds, first_seen_at, last_seen_at, schedules, expected_every, endpoints, limits, queue_seats
        )
        select
            p_hash, p_version, coalesce(array_agg(k.name order by k.name), '{}'), v_now, v_now,
            case when p_schedules is null then (select i.schedules from crontick.installation as i) else p_digest end,
            make_interval(secs => p_expected_seconds), p_endpoints, p_limits, p_queue_seats
        from jsonb_to_recordset(p_kinds) as k (name text)
        on conflict do nothing;
    end if;
    insert into crontick.kinds as known (name, queue, priority, max_attempts, secret, breaker, seen_at)
    select k.name, k.queue, k.priority, k.max_attempts, coalesce(k.secret, '{}'), k.breaker, v_now
    from jsonb_to_recordset(p_kinds) as k (name text, queue text, priority int, max_attempts int, secret text[], breaker boolean)
    order by k.name
    on conflict (name) do update
    set
        queue = excluded.queue, priority = excluded.priority, max_attempts = excluded.max_attempts, secret = excluded.secret,
        breaker = excluded.breaker, seen_at = excluded.seen_at;
    -- What was enqueued before its kind had these secret fields is found by a walk over the unfinished jobs (list_unsealed).
    insert into crontick.unsealed_walks as walk (kind, after_job)
    select named.kind, 0
    from unnest(v_secret) as named (kind)
    order by named.kind
    on conflict (kind) do update set after_job = 0;
    update crontick.installation as i set strict_kinds = p_strict where i.strict_kinds <> p_strict;
    return v_in_force;
end
$$;
