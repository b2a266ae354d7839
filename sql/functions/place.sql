-- Answer the calls of groups: where no head is there, the first in line by id becomes the head (P3, P25).
-- One placer at a time, by a try-lock; the calls are judged in a statement after it, hence in a new snapshot, and deleted by
-- the statement that judged them, so that no wake-up is lost. It never waits for a row.
create function crontick.place(p_bound int default 500) returns void
language plpgsql volatile
security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set jit = off
set enable_bitmapscan = off
as $$
begin
    if not exists (select from crontick.group_calls as c order by c.group_digest limit 1) then
        return;
    end if;
    if not pg_try_advisory_xact_lock('crontick.group_calls'::regclass::oid::int, 0) then
        return;
    end if;
    with recursive called as (
        (select c.group_digest from crontick.group_calls as c order by c.group_digest limit 1)
        union all
        select following.group_digest
        from called
        cross join lateral (
            select c.group_digest
            from crontick.group_calls as c
            where c.group_digest > called.group_digest
            order by c.group_digest
            limit 1
        ) as following
    ),
    judged as materialized (
        select
            called.group_digest,
            first.id,
            exists (
                select
                from crontick.unfinished_jobs as h
                where h.group_digest = called.group_digest and h.in_line and h.held_by is distinct from 'group'
            ) as headed
        from (select c.group_digest from called as c limit p_bound) as called
        left join lateral (
            select w.id
            from crontick.unfinished_jobs as w
            where w.group_digest = called.group_digest and w.held_by = 'group'
            order by w.id
            limit 1
        ) as first on true
    ),
    -- coalesce: a planner that knows little of the table would look for these ids in the index of all that wait, and walk it whole.
    locked as materialized (
        select j.id
        from crontick.unfinished_jobs as j
        where j.id = any(array(select d.id from judged as d where not d.headed and d.id is not null))
            and coalesce(j.held_by, '') = 'group'
        order by j.id
        for update skip locked
    ),
    promoted as (
        update crontick.unfinished_jobs as j
        set held_by = null, due_at = j.run_at
        where j.id = any(array(select l.id from locked as l)) and coalesce(j.held_by, '') = 'group'
        returning j.group_digest
    )
    delete from crontick.group_calls as c
    where c.group_digest = any(
        array(
            select d.group_digest from judged as d where d.headed or d.id is null
            union all
            select p.group_digest from promoted as p
        )
    );
end
$$;
