-- What became of the messages that this tick sent: told, or to be tried again after a pause that doubles from a minute to an hour.
-- Those that another tick has taken meanwhile are its own.
create function crontick.told_alerts(p_opening bigint, p_told jsonb) returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now constant timestamptz := crontick.now();
begin
    update crontick.alert_messages as m
    set
        told_at = case when t.error is null then v_now end,
        tries = m.tries + 1,
        next_try_at = case
            when t.error is null then m.next_try_at else v_now + make_interval(secs => least(60 * 2 ^ least(m.tries, 6), 3600))
        end,
        claimed_by = null,
        error = left(t.error, 500)
    from jsonb_to_recordset(p_told) as t (alert bigint, channel text, event text, error text)
    where m.alert = t.alert and m.channel = t.channel and m.event = t.event and m.claimed_by = p_opening and m.told_at is null;
    update crontick.alerts as a
    set told_at = v_now
    from jsonb_to_recordset(p_told) as t (alert bigint, event text, error text)
    where a.id = t.alert and t.event = 'started' and t.error is null and a.told_at is null;
end
$$;
