-- Lock and return lines where jobs wait by what a limit no longer says, by a skip scan over what limits have said.
create function crontick.changed_lines(p_limits jsonb, p_bound int) returns text[]
language plpgsql volatile
as $$
declare
    v_changed crontick.limit_lines [];
begin
    with recursive told as (
        (
            select l.limit_name, l.said
            from crontick.limit_lines as l
            where l.look_at is not null
            order by l.limit_name, l.said
            limit 1
        )
        union all
        select following.limit_name, following.said
        from told
        cross join lateral (
            select l.limit_name, l.said
            from crontick.limit_lines as l
            where l.look_at is not null and (l.limit_name, l.said) > (told.limit_name, told.said)
            order by l.limit_name, l.said
            limit 1
        ) as following
    )
    select array_agg(row(null, told.limit_name, null, told.said, null, null)::crontick.limit_lines)
    into v_changed
    from told
    where not exists (
        select from jsonb_to_recordset(p_limits) as n (name text, said text) where n.name = told.limit_name and n.said = told.said
    );
    if v_changed is null then
        return '{}';
    end if;
    return array(
        select line.hold
        from unnest(v_changed) as told
        cross join lateral (
            select l.hold
            from crontick.limit_lines as l
            where l.limit_name = told.limit_name and l.said = told.said and l.look_at is not null
            limit p_bound
            for update skip locked
        ) as line
        limit p_bound
    );
end
$$;
