-- Picked jobs that take left alone: cancelled (it expired before it ran), put in line (it came due and belongs to a
-- group), or held outside the due index until its gate opens. Each row is written once for each closing of its gate.
create function crontick.park(
    p_ids bigint[], p_now timestamptz, p_known text[], p_paused_kinds text[], p_paused_groups bytea[], p_paused_endpoints text[]
) returns void
language plpgsql volatile
as $$
declare
    v_expired bigint [];
    v_called bytea [];
begin
    v_expired := array(
        select j.id
        from crontick.unfinished_jobs as j
        where j.id = any(p_ids) and j.status in ('queued', 'failed') and j.expires_at <= p_now
    );
    if cardinality(v_expired) > 0 then
        perform crontick.finish_each(v_expired, 'cancelled', 'it expired before it ran', p_now);
    end if;

    with lined as (
        update crontick.unfinished_jobs as j
        set in_line = true, held_by = 'group', due_at = 'infinity', updated_at = p_now
        where j.id = any(p_ids) and j.status in ('queued', 'failed') and j.group_digest is not null and not j.in_line
        returning j.group_digest
    )
    select array_agg(distinct lined.group_digest) into v_called from lined;
    if v_called is not null then
        insert into crontick.group_calls (group_digest) select unnest(v_called);
    end if;

    update crontick.unfinished_jobs as j
    set
        held_by = case when j.kind = any(p_known) then 'pause' else 'kind' end,
        due_at = 'infinity',
        updated_at = p_now
    where j.id = any(p_ids) and j.status in ('queued', 'failed') and j.held_by is null
        and (
            j.kind <> all(p_known)
            or j.kind = any(p_paused_kinds)
            or (j.group_digest is not null and j.group_digest = any(p_paused_groups))
        );

    -- Each endpoint has a hold of its own, so that opening one walks over no other's rows; the call is for the opening that
    -- comes after a resume which this transaction did not see.
    if cardinality(p_paused_endpoints) > 0 then
        with held as (
            update crontick.unfinished_jobs as j
            set held_by = 'endpoint:' || crontick.endpoint_of(j.kind, j.payload), due_at = 'infinity', updated_at = p_now
            where j.id = any(p_ids) and j.status in ('queued', 'failed') and j.held_by is null
                and crontick.endpoint_of(j.kind, j.payload) = any(p_paused_endpoints)
            returning crontick.endpoint_of(j.kind, j.payload) as name
        )
        insert into crontick.endpoint_calls (name) select distinct held.name from held;
    end if;
end
$$;
