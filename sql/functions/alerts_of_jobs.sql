-- What is wrong with jobs. Each count ends at a thousand, and is read from an index that holds such rows alone; where a probe finds
-- none, the question is not even planned: a cold tick would pay for that.
create function crontick.alerts_of_jobs(p_now timestamptz, p_alerts jsonb) returns setof crontick.alert_condition
language plpgsql stable
as $$
begin
    if exists (
        select from crontick.finished_jobs as f
        where f.status = 'dead' and f.resolution is null and f.finished_at > p_now - interval '1 hour'
    ) then
        return query
        select
            'dead_letters', '', min(d.finished_at), count(*),
            format(
                '%s job %s (%s)',
                case when count(*) = 1 then 'a job died within an hour:' else count(*) || ' jobs died within an hour, the first is' end,
                (array_agg(d.id order by d.finished_at, d.id))[1],
                (array_agg(concat_ws(', ', d.kind, d.last_status_code) order by d.finished_at, d.id))[1]
            ),
            'crontick dead list', (array_agg(d.last_error order by d.finished_at, d.id))[1],
            (array_agg(d.id order by d.finished_at, d.id))[1]
        from (
            select f.id, f.kind, f.finished_at, f.last_status_code, f.last_error
            from crontick.finished_jobs as f
            where f.status = 'dead' and f.resolution is null and f.finished_at > p_now - interval '1 hour'
            order by f.finished_at desc
            limit 1000
        ) as d
        having count(*) >= (p_alerts ->> 'dead_letters')::int;
    end if;
    if exists (
        select from crontick.finished_jobs as f where f.status = 'dead' and f.resolution is null order by f.id offset 10000 limit 1
    ) then
        return query
        select
            'dead_unresolved', '', min(f.finished_at), 10000::bigint, 'more than 10000 dead jobs wait for a decision', 'crontick dead list', null::text, null::bigint
        from (
            select over.finished_at
            from crontick.finished_jobs as over
            where over.status = 'dead' and over.resolution is null
            order by over.id
            offset 10000
            limit 1
        ) as f
        having count(*) > 0;
    end if;
    if exists (
        select from crontick.attempts as f where f.outcome in ('failed', 'dead') and f.ended_at > p_now - interval '1 hour'
    ) then
        return query
        select
            'same_error', a.kind || ' ' || a.fingerprint, min(a.ended_at), count(distinct a.job),
            format(
                'one error on %s jobs of %s within an hour, the first is job %s%s', count(distinct a.job), a.kind,
                (array_agg(a.job order by a.ended_at, a.job))[1], coalesce(' (' || min(a.status_code) || ')', '')
            ),
            format('crontick jobs --kind %s --status failed', a.kind), (array_agg(a.error order by a.ended_at, a.job))[1],
            (array_agg(a.job order by a.ended_at, a.job))[1]
        from (
            select f.job, f.kind, f.fingerprint, f.ended_at, f.status_code, f.error
            from crontick.attempts as f
            where f.outcome in ('failed', 'dead') and f.ended_at > p_now - interval '1 hour'
            order by f.ended_at desc
            limit 2000
        ) as a
        where a.fingerprint is not null
        group by a.kind, a.fingerprint
        having count(distinct a.job) >= (p_alerts ->> 'same_error')::int;
    end if;
    return query
    select
        'oldest_due', l.queue, min(l.oldest_at), sum(waiting.jobs)::bigint,
        format('jobs of the queue %s have been due since %s', l.queue, to_char(min(l.oldest_at), 'YYYY-MM-DD HH24:MI TZ')),
        'crontick status', null::text, null::bigint
    from crontick.lanes(p_now, null, array(select p.name from crontick.pauses as p where p.what = 'queue')) as l
    cross join lateral (
        select count(*) as jobs
        from (
            select
            from crontick.unfinished_jobs as j
            where j.queue = l.queue and j.priority = l.priority and j.due_at <= p_now and j.due_at < 'infinity'
            limit 1000
        ) as due
    ) as waiting
    where not exists (select from crontick.pauses as p where p.what = 'all')
    group by l.queue
    having min(l.oldest_at) < p_now - make_interval(secs => (p_alerts ->> 'oldest_due_seconds')::float8);
    if exists (select from crontick.unfinished_jobs as j where j.held_by = 'kind' and j.held_by <> 'group') then
        return query
        select
            'unknown_kind', u.kind, waiting.since, waiting.jobs,
            format('jobs of the kind %s wait, and no deployment of the last day knows it', u.kind), 'crontick jobs --kind ' || u.kind, null::text,
            waiting.job
        from unnest(crontick.unknown_kinds(p_now)) as u (kind)
        cross join lateral (
            select count(*) as jobs, min(h.run_at) as since, min(h.id) as job
            from (
                select j.run_at, j.id
                from crontick.unfinished_jobs as j
                where j.held_by = 'kind' and j.held_by <> 'group' and j.kind = u.kind
                order by j.held_by, j.kind, j.id
                limit 1000
            ) as h
        ) as waiting;
    end if;
    if exists (select from crontick.unfinished_jobs as j where j.held_by like 'key:%') then
        return query
        select
            'missing_key', substr(s.held_by, 5), min(s.run_at), count(*),
            format('jobs are sealed with the key %s, which no tick has had', substr(s.held_by, 5)), 'crontick why ' || min(s.id), null::text, min(s.id)
        from (
            select j.held_by, j.run_at, j.id
            from crontick.unfinished_jobs as j
            where j.held_by like 'key:%'
            limit 1000
        ) as s
        group by s.held_by;
    end if;
    if exists (select from crontick.markers as m where m.state = 'in_doubt') then
        return query
        select
            'doubts', m.kind, min(m.reserved_at), count(*),
            format('nobody knows whether %s of %s', case when count(*) = 1 then 'a message' else count(*) || ' messages' end, m.kind) || ' arrived',
            'crontick doubts list', null::text, min(m.job)
        from (
            select d.kind, d.reserved_at, d.job
            from crontick.markers as d
            where d.state = 'in_doubt'
            order by d.kind, d.reserved_at
            limit 1000
        ) as m
        group by m.kind;
    end if;
end
$$;
