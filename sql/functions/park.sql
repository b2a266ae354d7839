-- Picked jobs that take left alone: cancelled (it expired before it ran), put in line (it came due and belongs to a
-- group), or held outside the due index until its gate opens. Each row is written once for each closing of its gate.
create function crontick.park(
    p_ids bigint[], p_now timestamptz, p_known text[], p_paused_kinds text[], p_paused_groups bytea[]
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
end
$$;
