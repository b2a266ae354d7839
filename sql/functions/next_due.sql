-- The next moment at which a tick has something to do: the least of due jobs, jobs to come, groups that wait to be placed, lease
-- ends, slots, probes and room in a limit's line (P42). What waits for a kind that no deployment of the last day knows wakes nobody.
-- Null: never.
create function crontick.next_due(p_now timestamptz, p_paused text[]) returns timestamptz
language sql stable
as $$
    select least(
        (select min(l.oldest_at) from crontick.lanes('infinity', null, p_paused) as l),
        (select p_now where exists (select from crontick.group_calls as g order by g.group_digest limit 1)),
        (select min(c.lease_expires_at) from crontick.claims as c),
        (select min(l.look_at) from crontick.limit_lines as l where l.look_at is not null and l.look_at < 'infinity'),
        crontick.breakers_due(
            p_now, array(select k.name from crontick.kinds as k where k.seen_at > p_now - interval '1 day')
        ),
        (
            select nullif(min(greatest(j.run_at, crontick.broken_until(j.kind, j.payload))), 'infinity')
            from crontick.unfinished_jobs as j
            where j.held_by = 'suspect' and j.held_by <> 'group' and j.status <> 'running' and j.lone_rescues < 2
                and j.queue <> all(p_paused)
                and exists (select from crontick.kinds as k where k.name = j.kind and k.seen_at > p_now - interval '1 day')
                and not exists (
                    select
                    from crontick.pauses as p
                    where (p.what = 'kind' and p.name = j.kind) or (p.what = 'group' and p.name = j.group_key)
                )
        ),
        (
            select min(coalesce(s.next_at, case when s.error is null then s.look_at end))
            from crontick.declared_schedules as s
            where s.removed_at is null
                and exists (select from crontick.kinds as k where k.name = s.kind and k.seen_at > p_now - interval '1 day')
                and not exists (select from crontick.pauses as p where p.what = 'schedule' and p.name = s.name)
        )
    )
$$;
