-- Whether nothing but a gate that opens by itself keeps a picked job back. One expression, so that it is inlined where it stands.
create function crontick.runnable(
    j crontick.unfinished_jobs, p_now timestamptz, p_known text[], p_paused_kinds text[], p_paused_groups bytea[],
    p_paused_endpoints text[]
) returns boolean
language sql stable
as $$
    select j.status in ('queued', 'failed') and j.kind = any(p_known) and j.kind <> all(p_paused_kinds)
        and coalesce(crontick.endpoint_of(j.kind, j.payload) <> all(p_paused_endpoints), true)
        and (j.expires_at is null or j.expires_at > p_now)
        and (j.group_digest is null or (j.in_line and j.group_digest <> all(p_paused_groups)))
$$;
