-- Whether a claim takes this row of its lane: due, not passed over before by the same claim, and snoozed or handed back by no attempt
-- of the same tick. One expression, so that it is inlined where it stands, and the due index is used.
create function crontick.may_be_picked(
    j crontick.unfinished_jobs, p_now timestamptz, p_tick bigint, p_seen bigint[], p_kinds text[]
) returns boolean
language sql stable
as $$
    select j.due_at < 'infinity' and j.due_at <= p_now
        and j.status in ('queued', 'failed') and (j.status = 'failed' or j.claimed_by is distinct from p_tick)
        and j.id <> all(p_seen)
        and (p_kinds is null or j.kind = any(p_kinds))
$$;
