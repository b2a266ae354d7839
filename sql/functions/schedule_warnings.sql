-- What is wrong with schedules, five of each sort at most, in sentences for the summary of a tick.
create function crontick.schedule_warnings(p_now timestamptz, p_known text[]) returns text[]
language sql stable
as $$
    select array(
        select format('schedule %s: %s', s.name, s.error)
        from crontick.declared_schedules as s
        where s.removed_at is null and s.error is not null
        order by s.name
        limit 5
    ) || array(
        select format('schedule %s is due, and this deployment has no kind %s: name its module in CRONTICK_MODULES', s.name, s.kind)
        from crontick.declared_schedules as s
        where s.look_at <= p_now and s.removed_at is null and s.kind <> all(p_known)
            and not exists (select from crontick.pauses as p where p.what = 'schedule' and p.name = s.name)
        order by s.name
        limit 5
    )
$$;
