-- What keeps jobs from running: breakers that opened by themselves, schedules that do not fire, what crontick paused.
create function crontick.alerts_of_gates(p_now timestamptz) returns setof crontick.alert_condition
language plpgsql stable
as $$
begin
    if exists (select from crontick.breakers as b where b.state <> 'closed') then
        return query
        select
            'breaker_open', b.target, b.opened_at, held.jobs,
            format(
                '%s keeps failing; %s for it', coalesce(substring(b.target from '^https?://([^/?#]+)'), b.target),
                case when held.jobs = 1 then 'a job waits' else held.jobs || ' jobs wait' end
            ),
            'crontick breakers', b.reason, null::bigint
        from crontick.breakers as b
        cross join lateral (
            select count(*) as jobs
            from (
                select from crontick.unfinished_jobs as j where j.held_by = b.hold and j.held_by <> 'group' limit 1000
            ) as waiting
        ) as held
        where b.state <> 'closed' and (b.retry_at is not null or b.state = 'half_open')
        order by b.hold
        limit 20;
    end if;
    if exists (select from crontick.declared_schedules as s where s.removed_at is null) then
        return query
        select
            'schedule_failing', s.name, coalesce(s.skipped_slot_at, s.fired_at, s.synced_at), s.skips_in_a_row::bigint,
            case
                when s.error is not null then format('schedule %s: %s', s.name, s.error)
                else format('schedule %s skipped %s times in a row, for its last job has not ended', s.name, s.skips_in_a_row)
            end,
            'crontick schedules list', null::text, s.jobs[1]
        from crontick.declared_schedules as s
        where s.removed_at is null and (s.error is not null or s.skips_in_a_row >= 3)
            and not exists (
                select from crontick.pauses as p where p.what = 'all' or (p.what = 'schedule' and p.name = s.name)
            )
        order by s.name
        limit 20;
    end if;
    if exists (select from crontick.pauses) then
        return query
        select
            case when p.what = 'kind' then 'kind_paused' else 'endpoint_disabled' end, p.name, p.paused_at, 1::bigint,
            case
                when p.what = 'kind' then format('crontick paused the kind %s: %s', p.name, p.reason)
                else format('the endpoint %s answered %s and gets nothing any more', p.name, p.status_code)
            end,
            format('crontick resume %s %s', p.what, p.name), null::text, null::bigint
        from crontick.pauses as p
        where (p.what = 'kind' and p.by = 'crontick') or p.status_code is not null
        order by p.what, p.name
        limit 20;
    end if;
end
$$;
