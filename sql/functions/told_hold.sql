-- What holds a job, as a person knows it: a limit by its name and the value of its key, a breaker by its target.
create function crontick.told_hold(held_by text) returns text
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select case
        when told_hold.held_by like 'limit:%' then (
            select concat_ws(':', 'limit', split_part(told_hold.held_by, ':', 2), nullif(max(l.key), ''))
            from crontick.limit_lines as l
            where l.hold = told_hold.held_by
        )
        when told_hold.held_by like 'breaker:%' then (
            select concat_ws(':', 'breaker', max(b.target)) from crontick.breakers as b where b.hold = told_hold.held_by
        )
        else told_hold.held_by
    end
$$;
