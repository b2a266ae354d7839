-- How often this trigger calls, from its last thirty gaps: null while there are fewer than ten, or where it keeps no beat. Rounded to
-- the minute, for triggers say minutes; what calls more often than twice a minute is no trigger that is missed.
-- Ticks that ticks asked for (fan-out) keep nobody's beat; nor does a watcher, which keeps no row of its idle ticks; wakes keep one
-- by chance alone.
create function crontick.learned_every(p_trigger text) returns interval
language sql stable
as $$
    select
        case
            when count(g.gap) >= 10 and percentile_cont(0.8) within group (order by g.gap) <= 2 * percentile_cont(0.5) within group (order by g.gap)
                and percentile_cont(0.5) within group (order by g.gap) >= interval '30 seconds'
                then make_interval(
                    secs => greatest(round(extract(epoch from percentile_cont(0.5) within group (order by g.gap)) / 60), 1)::float8 * 60
                )
        end
    from (
        select t.started_at - lag(t.started_at) over (order by t.started_at) as gap
        from (
            select one.started_at
            from crontick.ticks as one
            where one.trigger = p_trigger and p_trigger not in ('fan-out', 'watch', 'wake')
            order by one.started_at desc
            limit 31
        ) as t
    ) as g
$$;
