-- Messages whose time has come are this tick's to send, twenty at most; until its lease ends no other tick sends them. No channel
-- hears the end of an alert before its start.
create function crontick.claim_alerts(p_opening bigint, p_now timestamptz, p_alerts jsonb) returns void
language sql volatile
as $$
    update crontick.alert_messages as m
    set
        claimed_by = p_opening,
        next_try_at = greatest(
            (select t.lease_expires_at from crontick.ticks as t where t.opening = p_opening), p_now + interval '1 minute'
        )
    where m.ctid = any(
        array(
            select due.ctid
            from crontick.alert_messages as due
            join crontick.alerts as a on a.id = due.alert
            where due.told_at is null and due.next_try_at <= p_now and p_alerts -> 'channels' ? due.channel
                and not crontick.silenced(a.name, a.subject, p_now)
                and not (
                    due.event = 'ended' and exists (
                        select
                        from crontick.alert_messages as earlier
                        where earlier.alert = due.alert and earlier.channel = due.channel and earlier.event = 'started'
                            and earlier.told_at is null
                    )
                )
            order by due.next_try_at, due.alert
            limit 20
            for update of due skip locked
        )
    )
$$;
