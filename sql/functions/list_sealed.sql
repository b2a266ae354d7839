-- A page of p_rows jobs above p_after by id: those that hold something sealed, or a secret field in clear, and the page's last id, which is
-- null behind the last page. There is one row at least. Locks nothing.
create function crontick.list_sealed(p_finished boolean, p_after bigint, p_rows int)
returns table (last bigint, id bigint, kind text, payload text, secret text[], running boolean)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    with page as materialized (
        (
            select j.id, j.kind, j.payload, j.status = 'running' as running
            from crontick.unfinished_jobs as j
            where not p_finished and j.id > p_after
            order by j.id
            limit p_rows
        )
        union all
        (
            select f.id, f.kind, f.payload, false
            from crontick.finished_jobs as f
            where p_finished and f.id > p_after
            order by f.id
            limit p_rows
        )
    ),
    secretive as (
        select p.id, p.kind, p.payload::text as payload, coalesce(k.secret, '{}') as secret, p.running
        from page as p
        left join crontick.kinds as k on k.name = p.kind
        where p.payload ? '$sealed' or crontick.has_clear_secret(k.secret, p.payload)
    )
    select place.last, s.id, s.kind, s.payload, s.secret, s.running
    from (select max(page.id) as last from page) as place
    left join secretive as s on true
    order by s.id
$$;
