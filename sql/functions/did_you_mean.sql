-- " (did you mean mail?)" where one of the names looks like it: half of its pairs of letters and more are the other's; else nothing.
create function crontick.did_you_mean(p_name text, p_names text[]) returns text
language sql immutable
as $$
    with near as (
        select
            known.name,
            (
                select 2.0 * count(*)
                from generate_series(1, length(known.name) - 1) as at (n)
                where strpos(lower(p_name), lower(substr(known.name, at.n, 2))) > 0
            ) / greatest(length(known.name) + length(p_name) - 2, 1) as likeness
        from unnest(p_names) as known (name)
        where known.name <> p_name
    )
    select coalesce(
        (select format(' (did you mean %s?)', n.name) from near as n where n.likeness >= 0.5 order by n.likeness desc, n.name limit 1), ''
    )
$$;
