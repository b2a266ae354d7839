-- Who calls ticks, how often each is to, and its last three gaps, the latest first. Where a deployment declares how often ticks
-- come, whoever calls them, they are one line without a name; else there is one for each trigger whose beat is known.
create function crontick.trigger_gaps(
    p_now timestamptz, out trigger text, out every interval, out last_at timestamptz, out gaps interval[]
) returns setof record
language plpgsql stable
as $$
#variable_conflict use_column
declare
    v_declared constant interval := (
        select d.expected_every
        from crontick.deployments as d
        where d.hash = (select t.deployment from crontick.ticks as t order by t.started_at desc limit 1)
    );
begin
    if v_declared is not null then
        every := v_declared;
        -- Before a watcher's tick there may have been idle ones whose rows are gone.
        select array_agg(t.started_at - t.previous order by t.started_at desc) filter (where t.trigger is distinct from 'watch'), max(t.started_at)
        into gaps, last_at
        from (
            select l.started_at, l.trigger, lag(l.started_at) over (order by l.started_at) as previous
            from (
                select one.started_at, one.trigger
                from crontick.ticks as one
                where one.trigger is distinct from 'fan-out'
                order by one.started_at desc
                limit 4
            ) as l
        ) as t;
        gaps := array_remove(gaps, null);
        return next;
        return;
    end if;
    return query
    with recursive named as (
        (select t.trigger from crontick.ticks as t where t.trigger is not null order by t.trigger limit 1)
        union all
        select following.trigger
        from named
        cross join lateral (
            select t.trigger from crontick.ticks as t where t.trigger > named.trigger order by t.trigger limit 1
        ) as following
    )
    select n.trigger, learned.every, latest.at, latest.gaps
    from (select named.trigger from named limit 20) as n
    cross join lateral (select crontick.learned_every(n.trigger) as every) as learned
    cross join lateral (
        select max(t.started_at) as at, array_remove(array_agg(t.started_at - t.previous order by t.started_at desc), null) as gaps
        from (
            select l.started_at, lag(l.started_at) over (order by l.started_at) as previous
            from (
                select one.started_at
                from crontick.ticks as one
                where one.trigger = n.trigger
                order by one.started_at desc
                limit 4
            ) as l
        ) as t
    ) as latest
    where learned.every is not null;
end
$$;
