-- What is wrong with ticks themselves. Late: two of the last three gaps were over twice what is expected. Missing: none came for four
-- times that, or none had come before the last two; a trigger that stays away for good is forgotten.
create function crontick.alerts_of_ticks(p_now timestamptz) returns setof crontick.alert_condition
language plpgsql stable
as $$
begin
    if exists (
        select
        from crontick.ticks as t
        where t.ended_at is null and t.started_at > p_now - interval '1 hour' and t.lease_expires_at < p_now
    ) then
        return query
        select
            'tick_died', '', min(d.started_at), count(*),
            format(
                '%s before %s end within an hour, the first at %s', case when count(*) = 1 then 'a tick died' else count(*) || ' ticks died' end,
                case when count(*) = 1 then 'its' else 'their' end, to_char(min(d.started_at), 'YYYY-MM-DD HH24:MI TZ')
            ),
            'crontick ticks', null::text, null::bigint
        from (
            select t.started_at
            from crontick.ticks as t
            where t.ended_at is null and t.started_at > p_now - interval '1 hour' and t.lease_expires_at < p_now
            order by t.started_at desc
            limit 1000
        ) as d
        having count(*) > 0;
    end if;
    return query
    select
        case when m.missing then 'trigger_missing' else 'trigger_late' end, coalesce(m.trigger, ''),
        case when m.missing then m.last_at - m.hole else m.last_at - m.gaps[1] end, 1::bigint,
        case
            when m.missing and m.hole = interval '0'
                then format('no tick of %s since %s, expected every %s', m.trigger, to_char(m.last_at, 'YYYY-MM-DD HH24:MI TZ'), crontick.told_interval(m.every))
            when m.missing
                then format(
                    'no tick%s came for %s, expected every %s', coalesce(' of ' || m.trigger, ''), date_trunc('second', m.hole), crontick.told_interval(m.every)
                )
            else format('ticks%s come late: %s apart, expected every %s', coalesce(' of ' || m.trigger, ''), date_trunc('second', m.gaps[1]), crontick.told_interval(m.every))
        end,
        'crontick ticks --triggers', null::text, null::bigint
    from (
        select
            g.trigger, g.every, g.last_at, g.gaps, late.often,
            p_now - g.last_at > 4 * g.every or greatest(g.gaps[1], g.gaps[2]) > 4 * g.every as missing,
            case when p_now - g.last_at > 4 * g.every then interval '0' else greatest(g.gaps[1], g.gaps[2]) end as hole
        from crontick.trigger_gaps(p_now) as g
        cross join lateral (
            select count(*) >= 2 as often from unnest(g.gaps) as gap (length) where gap.length > 2 * g.every
        ) as late
        where g.last_at > p_now - greatest(20 * g.every, interval '2 days')
    ) as m
    where m.missing or m.often;
end
$$;
