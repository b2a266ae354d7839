-- queued, failed -> running, for the picked jobs that nothing keeps back. What cannot run is left as it was, for park.
-- Changes no indexed column (HOT). Where a kind has a marker, the claim reserves it in the same transaction (P20). The update
-- stands twice: a deployment without markers returns its rows at once, and is spared a second look at each.
create function crontick.take(
    p_ids bigint[], p_claim bigint, p_tick bigint, p_now timestamptz, p_lease_end timestamptz,
    p_known text[], p_paused_kinds text[], p_paused_groups bytea[], p_markers jsonb
) returns setof crontick.claimed_job
language plpgsql volatile
as $$
begin
    if p_markers is null then
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
            and (j.expires_at is null or j.expires_at > p_now)
            and (j.group_digest is null or (j.in_line and j.group_digest <> all(p_paused_groups)))
        returning
            j.id, j.kind, j.payload::text, j.attempt, j.max_attempts, j.handed_back::int, j.held_by is not null,
            j.queue, j.priority, j.run_at, j.created_at, j.group_key, j.unique_key, j.first_job,
            null::text, null::text, null::bigint, null::float8;
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
    where j.id = any(p_ids) and j.status in ('queued', 'failed') and j.kind = any(p_known) and j.kind <> all(p_paused_kinds)
        and (j.expires_at is null or j.expires_at > p_now)
        and (j.group_digest is null or (j.in_line and j.group_digest <> all(p_paused_groups)));
    perform crontick.reserve_markers(p_ids, p_claim, p_now, p_markers);
    return query select * from crontick.taken(p_ids, p_claim, p_now, p_markers);
end
$$;
