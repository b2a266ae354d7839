-- Held rows whose gate is open again go back into the due index, a bounded number at each opening (P3).
-- Here and wherever a hold is looked for stands held_by <> 'group': the index of holds leaves followers of groups out, of which
-- there may be very many, and by a parameter the planner does not see that it may use it.
create function crontick.free_holds(p_known text[], p_bound int default 500) returns int
language plpgsql volatile
as $$
declare
    v_paused_kinds text [];
    v_paused_groups bytea [];
    v_freed int;
begin
    if exists (select from crontick.endpoint_calls) then
        perform crontick.free_endpoints();
    end if;
    if not exists (select from crontick.unfinished_jobs as j where j.held_by in ('kind', 'pause') and j.held_by <> 'group') then
        return 0;
    end if;
    select
        coalesce(array_agg(p.name) filter (where p.what = 'kind'), '{}'),
        coalesce(array_agg(sha256(convert_to(p.name, 'UTF8'))) filter (where p.what = 'group'), '{}')
    into v_paused_kinds, v_paused_groups
    from crontick.pauses as p;

    update crontick.unfinished_jobs as j
    set held_by = null, due_at = j.run_at
    where j.id = any(
        array(
            select held.id
            from unnest(p_known) as known (kind)
            cross join unnest(array['kind', 'pause']) as gate (name)
            cross join lateral (
                select h.id
                from crontick.unfinished_jobs as h
                where h.held_by = gate.name and h.held_by <> 'group' and h.kind = known.kind
                    and (h.group_digest is null or h.group_digest <> all(v_paused_groups))
                    and h.status in ('queued', 'failed')
                order by h.held_by, h.kind, h.id
                limit p_bound
                for update skip locked
            ) as held
            where known.kind <> all(v_paused_kinds)
            limit p_bound
        )
    );
    get diagnostics v_freed = row_count;
    return v_freed;
end
$$;
