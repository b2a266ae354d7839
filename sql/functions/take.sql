-- queued, failed -> running, for the picked jobs that nothing keeps back. What cannot run is left as it was, for park.
-- Changes no indexed column (HOT). The update stands twice: jobs that nothing gates are returned by it at once. The others
-- (markers, limits, breakers) are admitted first; their markers are reserved in the same transaction (P20), and only they are
-- looked at a second time. p_taken: what this claim has taken before.
create function crontick.take(
    p_ids bigint[], p_claim bigint, p_tick bigint, p_now timestamptz, p_lease_end timestamptz,
    p_known text[], p_paused_kinds text[], p_paused_groups bytea[], p_paused_endpoints text[], p_markers jsonb,
    p_limits jsonb, p_breakers text[], p_taken bigint[]
) returns setof crontick.claimed_job
language plpgsql volatile
as $$
declare
    v_marked constant text [] := array(select jsonb_object_keys(p_markers));
    v_gated_kinds constant text [] := v_marked || coalesce(p_breakers, '{}') || array(
        select jsonb_array_elements_text(l.value -> 'kinds') from jsonb_array_elements(p_limits) as l (value)
    );
    v_gated_queues constant text [] := array(
        select l.value ->> 'queue' from jsonb_array_elements(p_limits) as l (value) where l.value ? 'queue'
    );
    v_taken int;
    v_gated bigint [];
begin
    return query
    update crontick.unfinished_jobs as j
    set
        status = 'running',
        attempt = j.attempt + 1,
        claim = p_claim,
        claimed_by = p_tick,
        claimed_at = p_now,
        updated_at = p_now,
        started_at = coalesce(j.started_at, p_now),
        lease_expires_at = p_lease_end
    where j.id = any(p_ids) and j.kind <> all(v_gated_kinds) and j.queue <> all(v_gated_queues)
        and crontick.runnable(j, p_now, p_known, p_paused_kinds, p_paused_groups, p_paused_endpoints)
    returning
        j.id, j.kind, j.payload::text, j.attempt, j.max_attempts, j.handed_back::int, j.held_by is not null,
        j.queue, j.priority, j.run_at, j.created_at, j.group_key, j.unique_key, j.first_job,
        null::text, null::text, null::bigint, null::float8, null::text;
    get diagnostics v_taken = row_count;
    if v_taken = cardinality(p_ids) or (cardinality(v_gated_kinds) = 0 and cardinality(v_gated_queues) = 0) then
        return;
    end if;

    v_gated := array(
        select j.id
        from crontick.unfinished_jobs as j
        where j.id = any(p_ids) and crontick.runnable(j, p_now, p_known, p_paused_kinds, p_paused_groups, p_paused_endpoints)
        order by j.priority desc, j.run_at, j.id
    );
    if p_limits is not null or p_breakers is not null then
        v_gated := crontick.admit(v_gated, p_claim, p_now, p_lease_end, p_limits, p_breakers, p_taken || p_ids);
    end if;
    if cardinality(v_gated) = 0 then
        return;
    end if;
    update crontick.unfinished_jobs as j
    set
        status = 'running',
        attempt = j.attempt + 1,
        claim = p_claim,
        claimed_by = p_tick,
        claimed_at = p_now,
        updated_at = p_now,
        started_at = coalesce(j.started_at, p_now),
        lease_expires_at = p_lease_end
    where j.id = any(v_gated);
    if cardinality(v_marked) > 0 then
        perform crontick.reserve_markers(v_gated, p_claim, p_now, p_markers);
    end if;
    return query select * from crontick.taken(v_gated, p_claim, p_now, coalesce(p_markers, '{}'));
end
$$;
