-- One true sentence: what the job waits for, or how it ended, and the mend.
-- "by" is quoted where it is the field of a variable: PL/pgSQL has a keyword of that name.
create function crontick.why(id bigint) returns text
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_now constant timestamptz := crontick.now();
    v_job crontick.unfinished_jobs;
    v_done crontick.finished_jobs;
    v_head crontick.unfinished_jobs;
    v_kept text;
    v_pause crontick.pauses;
    v_tick crontick.ticks;
    v_marker crontick.markers;
    v_misfit constant boolean := coalesce(
        (
            select a.fingerprint = 'crontick:payload'
            from crontick.attempts as a
            where a.job = why.id and a.outcome in ('failed', 'dead', 'rescued')
            order by a.number desc, a.ended_at desc
            limit 1
        ),
        false
    );
    v_time constant text := 'YYYY-MM-DD HH24:MI:SS TZ';
begin
    select * into v_job from crontick.unfinished_jobs as j where j.id = why.id;
    if not found then
        select * into v_done from crontick.finished_jobs as f where f.id = why.id;
        if not found then
            return format('there is no job %s: there never was one, or it has ended and its time is over', why.id);
        end if;
        if v_done.status = 'succeeded' then
            return format('succeeded at %s, in attempt %s', to_char(v_done.finished_at, v_time), greatest(v_done.attempt, 1));
        elsif v_done.status = 'cancelled' then
            return format('cancelled at %s: %s', to_char(v_done.finished_at, v_time), coalesce(v_done.last_error, 'no reason was given'));
        elsif v_done.resolution in ('requeued', 'not_sent') then
            return format(
                'dead, and requeued as job %s by %s at %s', v_done.requeued_as, v_done.resolved_by, to_char(v_done.resolved_at, v_time)
            );
        elsif v_done.resolution is not null then
            return format(
                'dead, and %s by %s at %s: %s', v_done.resolution, v_done.resolved_by, to_char(v_done.resolved_at, v_time),
                coalesce(v_done.resolved_reason, 'no reason was given')
            );
        end if;
        select * into v_marker from crontick.markers as m where m.job = why.id and m.state = 'in_doubt' limit 1;
        if found then
            return format(
                'dead in doubt since %s: nobody knows whether "%s" was sent: '
                'decide it with `crontick doubts sent %s %s` or `crontick doubts not-sent %s %s`',
                to_char(v_done.finished_at, v_time), v_marker.key, v_marker.kind, v_marker.key, v_marker.kind, v_marker.key
            );
        end if;
        return format(
            'dead since %s after %s of %s attempts: %s: `crontick dead requeue %s%s', to_char(v_done.finished_at, v_time),
            v_done.attempt,
            coalesce(v_done.max_attempts, (select k.max_attempts from crontick.kinds as k where k.name = v_done.kind), 5),
            coalesce(v_done.last_error, 'no error was kept'), why.id,
            case
                when v_misfit then ' --payload JSON` with one that fits, or without it once code is deployed that takes this one'
                else '` once the cause is mended'
            end
        );
    end if;

    if v_job.status = 'running' then
        if v_job.lease_expires_at <= v_now then
            return format(
                'its process died or froze: the lease ran out at %s, and the next tick takes it back',
                to_char(v_job.lease_expires_at, v_time)
            );
        end if;
        return format(
            'runs since %s in tick %s, attempt %s, lease until %s%s', to_char(v_job.claimed_at, v_time), v_job.claimed_by, v_job.attempt,
            to_char(v_job.lease_expires_at, v_time),
            (select format('; %s asked it to stop', r.by) from crontick.cancel_requests as r where r.job = why.id)
        );
    end if;
    select * into v_pause
    from crontick.pauses as p
    where (p.what = 'all')
        or (p.what = 'queue' and p.name = v_job.queue)
        or (p.what = 'kind' and p.name = v_job.kind)
        or (p.what = 'group' and p.name = v_job.group_key)
        or (p.what = 'endpoint' and p.name = crontick.endpoint_of(v_job.kind, v_job.payload))
    order by p.paused_at
    limit 1;
    if found then
        return format(
            '%s %s since %s by %s%s: `crontick resume %s`',
            case when v_pause.what = 'all' then 'everything is' else format('%s %s is', v_pause.what, v_pause.name) end,
            case when v_pause.status_code is null then 'paused' else 'disabled' end,
            to_char(v_pause.paused_at, v_time), v_pause."by", coalesce(' (' || v_pause.reason || ')', ''),
            concat_ws(' ', v_pause.what, nullif(v_pause.name, ''))
        );
    end if;
    if v_job.held_by = 'group' then
        select * into v_head
        from crontick.unfinished_jobs as h
        where h.group_digest = v_job.group_digest and h.in_line and h.held_by is distinct from 'group';
        if not found then
            return format('is next in line of group %s: the next tick lets it go', v_job.group_key);
        end if;
        return format(
            'waits for job %s, first of group %s, which %s: `crontick %s %s`', v_head.id, v_job.group_key,
            case
                when v_head.status = 'running' then 'runs'
                when v_head.held_by is not null then 'waits itself'
                when v_head.status = 'failed' then 'tries again at ' || to_char(v_head.run_at, v_time)
                else 'is due at ' || to_char(v_head.run_at, v_time)
            end,
            case when v_head.status = 'running' or v_head.held_by is not null then 'why' else 'run-now' end, v_head.id
        );
    end if;
    if v_job.held_by = 'kind' then
        return format(
            'no tick since it was enqueued knew the kind %s: deploy code that has it (CRONTICK_MODULES), or cancel the job: `crontick cancel %s`',
            v_job.kind, why.id
        );
    end if;
    if v_job.held_by like 'key:%' then
        return format(
            'is sealed with the key %s, which no tick since has had: add it to CRONTICK_ENCRYPTION_KEYS, or `crontick cancel %s`',
            substr(v_job.held_by, 5), why.id
        );
    end if;
    if v_job.held_by like 'limit:%' then
        return crontick.why_limited((select l from crontick.limit_lines as l where l.hold = v_job.held_by), v_now);
    end if;
    if v_job.held_by = 'suspect' and v_job.lone_rescues >= 2 then
        return format(
            '%s: mend what refuses the row in crontick.finished_jobs, then `crontick cancel %s`',
            coalesce(v_job.last_error, 'it cannot be ended'), why.id
        );
    end if;
    if v_job.held_by = 'suspect' then
        return format(
            'a process died under it (%s): it runs alone at the end of the next tick that knows it%s, and is dead after two deaths alone',
            coalesce(v_job.last_error, 'no error was kept'),
            case when v_job.run_at > v_now then ', not before ' || to_char(v_job.run_at, v_time) else '' end
        );
    end if;
    if v_job.held_by like 'breaker:%' then
        return coalesce(
            crontick.why_broken((select b from crontick.breakers as b where b.hold = v_job.held_by), v_now),
            'its target is well again: the jobs that waited for it go on in batches, it among them'
        );
    end if;
    if v_job.held_by is not null then
        return format('is held by %s: the next tick lets it go', v_job.held_by);
    end if;
    select * into v_tick from crontick.ticks as t where t.stop_reason is distinct from 'busy' order by t.started_at desc limit 1;
    v_kept := coalesce(
        crontick.why_broken(
            (
                select b
                from crontick.breakers as b
                where b.hold = crontick.breaker_hold(crontick.target_of(v_job.kind, v_job.payload)) and b.probe_job is distinct from v_job.id
            ),
            v_now
        ),
        crontick.why_limited(crontick.full_line(v_job.kind, v_job.queue, v_job.payload, v_now, v_tick.deployment), v_now)
    );
    if v_job.run_at > v_now then
        if v_job.status = 'failed' and v_misfit then
            return format(
                'attempt %s failed at %s (%s): once code is deployed that takes this payload it runs by itself, at %s; '
                'else enqueue it again with a payload that fits, and `crontick cancel %s`', v_job.attempt,
                to_char(v_job.last_error_at, v_time), v_job.last_error, to_char(v_job.run_at, v_time), why.id
            );
        end if;
        if v_job.status = 'failed' then
            return format(
                'attempt %s failed at %s (%s): tries again at %s%s%s', v_job.attempt,
                to_char(v_job.last_error_at, v_time), coalesce(v_job.last_error, 'no error was kept'), to_char(v_job.run_at, v_time),
                case when v_job.group_digest is not null and not v_job.in_line then ', and lets group ' || v_job.group_key || ' pass until then' end,
                coalesce('; it ' || v_kept, format(': `crontick run-now %s`', why.id))
            );
        end if;
        return format(
            'is not due before %s%s', to_char(v_job.run_at, v_time), coalesce('; it ' || v_kept, format(': `crontick run-now %s`', why.id))
        );
    end if;
    if v_kept is not null then
        return v_kept;
    end if;
    if v_tick.id is null then
        return format('due since %s, but no tick has come yet: call POST /cron/tick', to_char(v_job.run_at, v_time));
    end if;
    if v_tick.started_at < v_job.run_at then
        return format(
            'due since %s, but no tick has come since %s%s: call POST /cron/tick, or look at its trigger', to_char(v_job.run_at, v_time),
            to_char(v_tick.started_at, v_time), coalesce(
                format(
                    ' (%s)', concat_ws(', ', v_tick.trigger, 'expected every ' || crontick.told_interval(crontick.expected_every(v_tick.trigger)))
                ),
                ''
            )
        );
    end if;
    if not exists (select from crontick.kinds as k where k.name = v_job.kind) then
        return format(
            'due since %s, but no deployment knows the kind %s: deploy code that has it, or cancel the job',
            to_char(v_job.run_at, v_time), v_job.kind
        );
    end if;
    return crontick.why_due(v_job, v_tick, v_now);
end
$$;
