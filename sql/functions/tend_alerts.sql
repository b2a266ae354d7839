-- Alerts start and end with what is wrong, each once, whatever ticks overlap: one tick at a time looks, by a try-lock, and what it finds
-- is compared with what is active. messages: what this tick is to send; another one sends it if this one does not say within
-- its lease that it did. Nothing that happens here keeps the tick from closing.
create function crontick.tend_alerts(
    p_opening bigint, p_now timestamptz, p_alerts jsonb, out active text[], out messages text
)
language plpgsql volatile
as $$
begin
    if p_alerts is null then
        return;
    end if;
    if pg_try_advisory_xact_lock('crontick.alerts'::regclass::oid::int, 0) then
        begin
            perform crontick.start_and_end_alerts(p_now, p_alerts);
            if exists (select from crontick.alert_messages as m where m.told_at is null) then
                perform crontick.claim_alerts(p_opening, p_now, p_alerts);
            end if;
        exception when others or query_canceled then
            active := array['the alerts themselves, which cannot be told: SQLSTATE ' || sqlstate];
            return;
        end;
    end if;
    if not exists (select from crontick.alerts) then
        return;
    end if;
    active := array(
        select distinct a.name
        from crontick.alerts as a
        where a.ended_at is null and not crontick.silenced(a.name, a.subject, p_now)
        order by a.name
    );
    messages := (
        select json_agg(
            json_build_object(
                'alert', a.id, 'channel', m.channel, 'event', m.event, 'name', a.name, 'subject', a.subject, 'since', a.since,
                'ended_at', a.ended_at, 'counted', a.counted, 'what', a.what, 'mend', a.mend, 'error', left(a.error, 500), 'job', a.job
            )
            order by m.alert, m.event desc
        )
        from crontick.alert_messages as m
        join crontick.alerts as a on a.id = m.alert
        where m.told_at is null and m.claimed_by = p_opening
    );
end
$$;
