-- Why a due job that nothing holds has not begun, by the last tick, which came after it was due.
create function crontick.why_due(p_job crontick.unfinished_jobs, p_tick crontick.ticks, p_now timestamptz) returns text
language plpgsql stable
as $$
declare
    v_time constant text := 'YYYY-MM-DD HH24:MI:SS TZ';
    v_since constant text := format('due since %s', to_char(p_job.run_at, v_time));
    v_seats constant int := (
        select (d.queue_seats ->> p_job.queue)::int from crontick.deployments as d where d.hash = p_tick.deployment
    );
    v_running constant int := (
        select count(*)
        from crontick.claims as c
        join crontick.unfinished_jobs as j on j.id = any(c.job_ids)
        where c.tick = p_tick.id and j.claimed_by = p_tick.id and j.status = 'running' and j.queue = p_job.queue
    );
begin
    if p_tick.ended_at is null and p_tick.lease_expires_at > p_now then
        if v_running >= v_seats then
            return format(
                '%1$s; [queues.%2$s] seats = %3$s: so many jobs of its queue run in tick %4$s, which takes the next when one has ended; '
                'to let more run at once, raise it in crontick.toml', v_since, p_job.queue, v_seats, p_tick.id
            );
        end if;
        return format(
            '%s; tick %s runs since %s and has yet to take it: it does while seats and time are left, else the next one does', v_since,
            p_tick.id, to_char(p_tick.started_at, v_time)
        );
    end if;
    if p_tick.ended_at is null then
        return format('%s; the last tick, at %s, died or froze: the next one goes on', v_since, to_char(p_tick.started_at, v_time));
    end if;
    return format(
        '%s; the last tick, at %s, had no room for it (it ended with %s%s): the next one goes on', v_since,
        to_char(p_tick.started_at, v_time), p_tick.stop_reason,
        '; [queues.' || p_job.queue || '] seats = ' || v_seats || ' lets so many of its queue run at once'
    );
end
$$;
