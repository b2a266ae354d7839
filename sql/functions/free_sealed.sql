-- Rows held for want of a key go back into the due index where this deployment has it, a bounded number at each opening (P3).
create function crontick.free_sealed(p_keys text[], p_known text[], p_bound int default 500) returns int
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set jit = off
as $$
declare
    v_holds constant text [] := array(select 'key:' || key.id from unnest(p_keys) as key (id));
    v_freed int;
begin
    if not exists (select from crontick.unfinished_jobs as j where j.held_by = any(v_holds) and j.held_by <> 'group') then
        return 0;
    end if;
    update crontick.unfinished_jobs as j
    set held_by = null, due_at = j.run_at
    where j.id = any(
        array(
            select held.id
            from unnest(v_holds) as hold (name)
            cross join unnest(p_known) as known (kind)
            cross join lateral (
                select h.id
                from crontick.unfinished_jobs as h
                where h.held_by = hold.name and h.held_by <> 'group' and h.kind = known.kind and h.status in ('queued', 'failed')
                order by h.held_by, h.kind, h.id
                limit p_bound
                for update skip locked
            ) as held
            limit p_bound
        )
    );
    get diagnostics v_freed = row_count;
    return v_freed;
end
$$;
