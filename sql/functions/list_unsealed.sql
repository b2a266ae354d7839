-- Jobs of these kinds that lie in clear, with their payloads, the first p_bound of each kind's notes. Rows that run under another
-- claim are left to it. Locks nothing.
create function crontick.list_unsealed(p_kinds text[], p_bound int) returns table (id bigint, kind text, payload text)
language sql stable security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
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
    limit p_bound
$$;
