-- Retention: delete a bounded number of rows that are old, and never pending work, markers reserved or in doubt, or unresolved
-- dead letters inside their time (P28). Returns how many went.
create function crontick.prune(
    p_succeeded_days int, p_dead_days int, p_unresolved_days int, p_tick_days int, p_bound int default 1000
) returns int
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now constant timestamptz := crontick.now();
    v_gone int;
    v_all int := 0;
begin
    delete from crontick.finished_jobs as f
    where f.id = any(
        array(
            select old.id
            from crontick.finished_jobs as old
            where (old.status <> 'dead' and old.finished_at < v_now - make_interval(days => p_succeeded_days))
                or (old.status = 'dead' and old.resolved_at < v_now - make_interval(days => p_dead_days) and old.finished_at < v_now - make_interval(days => p_dead_days))
                or (old.status = 'dead' and old.finished_at < v_now - make_interval(days => p_unresolved_days))
            limit p_bound
            for update skip locked
        )
    );
    get diagnostics v_gone = row_count;
    v_all := v_all + v_gone;
    delete from crontick.attempts as a
    where a.ctid = any(
        array(select old.ctid from crontick.attempts as old where old.ended_at < v_now - make_interval(days => p_unresolved_days) limit p_bound)
    );
    get diagnostics v_gone = row_count;
    v_all := v_all + v_gone;
    delete from crontick.ticks as t
    where t.id = any(array(select old.id from crontick.ticks as old where old.started_at < v_now - make_interval(days => p_tick_days) order by old.started_at limit p_bound));
    get diagnostics v_gone = row_count;
    v_all := v_all + v_gone;
    delete from crontick.unique_keys as k
    where k.digest = any(array(select old.digest from crontick.unique_keys as old where old.free_at < v_now limit p_bound for update skip locked));
    get diagnostics v_gone = row_count;
    v_all := v_all + v_gone;
    delete from crontick.markers as m
    where m.ctid = any(
        array(
            select old.ctid
            from crontick.markers as old
            where old.state = 'sent' and old.settled_at < v_now - interval '400 days'
            limit p_bound
            for update skip locked
        )
    );
    get diagnostics v_gone = row_count;
    v_all := v_all + v_gone;
    delete from crontick.reminder_records as r
    where r.ctid = any(
        array(select old.ctid from crontick.reminder_records as old where old.recorded_at < v_now - interval '400 days' order by old.recorded_at limit p_bound)
    );
    get diagnostics v_gone = row_count;
    return v_all + v_gone;
end
$$;
