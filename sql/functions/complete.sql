-- running -> succeeded, inside the function's own transaction: what it wrote and this commit together, or neither does (P8).
-- Raises when the claim is not current, so that a caught error still cannot commit. Touches the job's own row, its key, its
-- markers and its group's call; the claim's row is left to the next settle or rescue, lest two transactions wait for each other.
create function crontick.complete(id bigint, claim bigint, result jsonb default null) returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set jit = off
as $$
#variable_conflict use_column
declare
    v_now constant timestamptz := crontick.now();
    v_digest bytea;
    v_keyed boolean;
begin
    if octet_length(complete.result::text) > 65536 then
        raise exception 'the result of job % has % bytes, 65536 are allowed',
            complete.id, octet_length(complete.result::text)
            using errcode = 'CT002', hint = 'store the result elsewhere and return a reference';
    end if;
    with ended as (
        delete from crontick.unfinished_jobs as j
        where j.id = complete.id and j.claim = complete.claim and j.status = 'running'
        returning j.*
    ),
    kept as (
        insert into crontick.finished_jobs (
            id, claim, claimed_by, first_job, requeued_from, run_at, created_at, started_at, claimed_at, finished_at, expires_at,
            last_error_at, priority, attempt, max_attempts, last_status_code, progress_done, progress_total, kind, queue, status,
            group_key, unique_key, unique_for, last_error, payload, result
        )
        select
            e.id, e.claim, e.claimed_by, e.first_job, e.requeued_from, e.run_at, e.created_at, e.started_at, e.claimed_at, v_now,
            e.expires_at, e.last_error_at, e.priority, e.attempt, e.max_attempts, e.last_status_code, e.progress_done,
            e.progress_total, e.kind, e.queue, 'succeeded', e.group_key, e.unique_key, e.unique_for, e.last_error, e.payload, complete.result
        from ended as e
    )
    select e.group_digest, e.unique_key is not null into v_digest, v_keyed from ended as e;
    if not found then
        raise exception 'the claim of job % is not current: its lease was lost, or it has ended', complete.id
            using errcode = 'CT410', hint = 'roll back: another attempt may be running';
    end if;
    insert into crontick.successes (ended_at, job_ids) values (v_now, array[complete.id]);
    if v_keyed then
        delete from crontick.unique_keys as k where k.job = complete.id and k.mode = 'active';
    end if;
    update crontick.markers as m
    set state = 'sent', settled_at = v_now
    where m.claim = complete.claim and m.job = complete.id and m.state = 'reserved';
    delete from crontick.cancel_requests as r where r.job = complete.id;
    if v_digest is not null then
        insert into crontick.group_calls (group_digest) values (v_digest);
    end if;
end
$$;
