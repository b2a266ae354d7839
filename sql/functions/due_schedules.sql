-- Schedules that a tick has to compute and may fire, the longest due first: what Python needs of each, as one JSON text.
create function crontick.due_schedules(p_now timestamptz, p_known text[]) returns text
language sql stable
as $$
    select json_agg(due)::text
    from (
        select
            s.name, s.cron, s.tz, s.catch_up, s.at_most, s.late_seconds, s.spread_seconds, s.starts_at, s.last_slot_at,
            s.last_slot_local, s.last_slot_fold
        from crontick.declared_schedules as s
        where s.look_at <= p_now and s.removed_at is null and s.kind = any(p_known)
            and not exists (select from crontick.pauses as p where p.what = 'schedule' and p.name = s.name)
        order by s.look_at, s.name
        limit 100
    ) as due
$$;
