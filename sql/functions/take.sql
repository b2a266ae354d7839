-- queued, failed -> running, for the picked jobs that nothing keeps back. What cannot run is left as it was, for park.
-- Changes no indexed column (HOT). The update stands twice: jobs of kinds without a marker are returned by it at once; for the
-- others the claim reserves the marker in the same transaction (P20), and only they are looked at a second time.
create function crontick.take(
    p_ids bigint[], p_claim bigint, p_tick bigint, p_now timestamptz, p_lease_end timestamptz,
    p_known text[], p_paused_kinds text[], p_paused_groups bytea[], p_paused_endpoints text[], p_markers jsonb
) returns setof crontick.claimed_job
language plpgsql volatile
as $$
declare
    v_marked constant text [] := array(select jsonb_object_keys(p_markers));
    v_taken int;
    v_marked_ids bigint [];
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
    where j.id = any(p_ids) and j.status in ('queued', 'failed') and j.kind = any(p_known) and j.kind <> all(p_paused_kinds)
        and j.kind <> all(v_marked)
        and coalesce(crontick.endpoint_of(j.kind, j.payload) <> all(p_paused_endpoints), true)
        and (j.expires_at is null or j.expires_at > p_now)
        and (j.group_digest is null or (j.in_line and j.group_digest <> all(p_paused_groups)))
    returning
        j.id, j.kind, j.payload::text, j.attempt, j.max_attempts, j.handed_back::int, j.held_by is not null,
        j.queue, j.priority, j.run_at, j.created_at, j.group_key, j.unique_key, j.first_job,
        null::text, null::text, null::bigint, null::float8, null::text;
    get diagnostics v_taken = row_count;
    if v_taken = cardinality(p_ids) or cardinality(v_marked) = 0 then
        return;
    end if;

    with marked as (
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
        where j.id = any(p_ids) and j.status in ('queued', 'failed') and j.kind = any(p_known) and j.kind <> all(p_paused_kinds)
            and j.kind = any(v_marked)
            and coalesce(crontick.endpoint_of(j.kind, j.payload) <> all(p_paused_endpoints), true)
            and (j.expires_at is null or j.expires_at > p_now)
            and (j.group_digest is null or (j.in_line and j.group_digest <> all(p_paused_groups)))
        returning j.id
    )
    select array_agg(marked.id) into v_marked_ids from marked;
    if v_marked_ids is not null then
        perform crontick.reserve_markers(v_marked_ids, p_claim, p_now, p_markers);
        return query select * from crontick.taken(v_marked_ids, p_claim, p_now, p_markers);
    end if;
end
$$;
