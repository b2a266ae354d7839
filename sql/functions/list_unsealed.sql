-- Jobs of these kinds that lie in clear, with their payloads, the first p_bound of each kind's notes. Rows that run under another
-- claim are left to it. What was enqueued before its kind had secret fields has no note yet: each call looks at p_walk more of the
-- unfinished jobs, whatever they are, and takes down those it finds; a walk that another tick is at is left to it (P2).
create function crontick.list_unsealed(p_kinds text[], p_bound int, p_walk int default 10000)
returns table (id bigint, kind text, payload text)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set jit = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
    v_walk crontick.unsealed_walks;
    v_last bigint;
    v_looked_at int;
begin
    select * into v_walk
    from crontick.unsealed_walks as w
    where w.kind = any(p_kinds)
    order by w.kind
    limit 1
    for update skip locked;
    if found then
        with page as materialized (
            select j.id, j.kind, j.payload
            from crontick.unfinished_jobs as j
            where j.id > v_walk.after_job
            order by j.id
            limit p_walk
        ),
        noted as (
            insert into crontick.unsealed (kind, job)
            select page.kind, page.id
            from page
            join crontick.kinds as k on k.name = page.kind
            where page.kind = v_walk.kind and crontick.has_clear_secret(k.secret, page.payload)
        )
        select max(page.id), count(*) into v_last, v_looked_at from page;
        if v_looked_at < p_walk then
            delete from crontick.unsealed_walks as w where w.kind = v_walk.kind;
        else
            update crontick.unsealed_walks as w set after_job = v_last where w.kind = v_walk.kind;
        end if;
    end if;

    return query
    select noted.job, named.kind, coalesce(j.payload, f.payload)::text
    from unnest(p_kinds) as named (kind)
    cross join lateral (
        select distinct u.job
        from crontick.unsealed as u
        where u.kind = named.kind
        order by u.job
        limit p_bound
    ) as noted
    left join crontick.unfinished_jobs as j on j.id = noted.job
    left join crontick.finished_jobs as f on f.id = noted.job
    where (j.id is not null and j.status <> 'running') or f.id is not null
    order by noted.job
    limit p_bound;
end
$$;
