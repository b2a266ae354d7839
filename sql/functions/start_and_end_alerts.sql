-- What is wrong and not yet active starts; what is active and no longer wrong ends. Under the try-lock of tend_alerts.
-- A condition that shows no more than a number of subjects ends none of them while it is full: they may be behind those it shows.
create function crontick.start_and_end_alerts(p_now timestamptz, p_alerts jsonb) returns void
language plpgsql volatile
as $$
declare
    v_found constant crontick.alert_condition[] := array(select c from crontick.alert_conditions(p_now, p_alerts) as c);
    v_full constant text[] := array(
        select c.name
        from unnest(v_found) as c
        group by c.name
        having count(*) >= case when c.name = 'unknown_kind' then 5 else 20 end
    );
    v_ended bigint[];
begin
    if cardinality(v_found) = 0 and not exists (select from crontick.alerts) then
        delete from crontick.alert_silences as s where s.until < p_now;
        return;
    end if;
    with ended as (
        update crontick.alerts as a
        set ended_at = p_now
        where a.ended_at is null and a.name <> all(v_full)
            and not exists (select from unnest(v_found) as c where c.name = a.name and c.subject = a.subject)
        returning a.id
    )

    select array_agg(ended.id) into v_ended from ended;
    if v_ended is not null then
        -- Nobody is told the end of what nobody was told of, because somebody wished so.
        delete from crontick.alert_messages as m
        using crontick.alerts as a
        where m.alert = any(v_ended) and a.id = m.alert and m.told_at is null and m.tries = 0 and m.claimed_by is null
            and crontick.silenced(a.name, a.subject, p_now);
        insert into crontick.alert_messages (alert, channel, event, next_try_at)
        select m.alert, m.channel, 'ended', p_now
        from crontick.alert_messages as m
        where m.alert = any(v_ended) and m.event = 'started'
        on conflict do nothing;
    end if;
    with started as (
        insert into crontick.alerts (name, subject, since, started_at, counted, what, mend, error, job)
        select c.name, c.subject, coalesce(c.since, p_now), p_now, c.counted, c.what, c.mend, c.error, c.job
        from unnest(v_found) as c
        on conflict do nothing
        returning id
    )

    insert into crontick.alert_messages (alert, channel, event, next_try_at)
    select started.id, channel.name, 'started', p_now
    from started
    cross join jsonb_array_elements_text(p_alerts -> 'channels') as channel (name);
    delete from crontick.alert_messages as m
    using crontick.alerts as a
    where m.told_at is null and m.next_try_at < p_now and a.id = m.alert
        and coalesce(a.ended_at, a.started_at) < p_now - interval '3 days';
    delete from crontick.alert_silences as s where s.until < p_now;
    with old as (
        delete from crontick.alerts as a
        where a.ended_at < p_now - interval '30 days'
        returning a.id
    )

    delete from crontick.alert_messages as m using old where m.alert = old.id;
end
$$;
