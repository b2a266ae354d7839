-- running -> succeeded, failed, dead, cancelled, or queued again, for the attempts that ended; fenced by (id, claim) pairs.
-- Never waits: a row that somebody holds comes back as held, and goes with the next exchange (P2). An outcome that this very
-- claim has already written (a lost answer, complete) is neither held nor lost (P1). Facts about markers are not fenced (P20).
-- refused: the parent of each child that could not be enqueued. p_kinds is the tally of the whole tick so far, so that a repeat adds
-- nothing to it.
create function crontick.settle(
    p_opening bigint, p_ids bigint[], p_claims bigint[], p_endings json, p_progress json,
    p_limits jsonb default null, p_kinds jsonb default null
) returns table (lost bigint[], held bigint[], already bigint[], cancelled bigint[], completed bigint[], refused bigint[])
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set jit = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
    v_now timestamptz := crontick.now();
    v_done bigint [] := '{}';
    v_plain int := 0;
    v_keyed bigint [];
    v_called bytea [];
    v_endings crontick.ending [];
    v_settled bigint [];
begin
    refused := '{}';
    if p_progress is not null then
        perform crontick.write_progress(p_progress, v_now);
    end if;

    -- Plain successes in one statement. The claim's own lock leaves xmax equal to xmin (or 0), so anything else means that
    -- somebody locked the row since: those go the careful way below. Reading xmax spares a row lock, and its WAL, a job.
    -- No join: to a planner whose statistics were taken of the table while it was empty, walking over all of it looks cheaper.
    if cardinality(p_ids) > 0 then
        with ended as (
            delete from crontick.unfinished_jobs as j
            where j.id = any(p_ids) and j.claim = p_claims[array_position(p_ids, j.id)]
                and j.status = 'running' and (j.xmax = j.xmin or j.xmax = '0'::xid)
            returning j.*
        ),
        kept as (
            insert into crontick.finished_jobs (
                id, claim, claimed_by, first_job, requeued_from, run_at, created_at, started_at, claimed_at, finished_at,
                expires_at, last_error_at, priority, attempt, max_attempts, last_status_code, progress_done, progress_total,
                kind, queue, status, group_key, unique_key, unique_for, last_error, payload
            )
            select
                e.id, e.claim, e.claimed_by, e.first_job, e.requeued_from, e.run_at, e.created_at, e.started_at, e.claimed_at,
                v_now, e.expires_at, e.last_error_at, e.priority, e.attempt, e.max_attempts, e.last_status_code,
                e.progress_done, e.progress_total, e.kind, e.queue, 'succeeded', e.group_key, e.unique_key, e.unique_for, e.last_error,
                e.payload
            from ended as e
        )
        select
            array_agg(e.id),
            array_agg(e.id) filter (where e.unique_key is not null),
            array_agg(distinct e.group_digest) filter (where e.group_digest is not null)
        into v_done, v_keyed, v_called
        from ended as e;
        v_done := coalesce(v_done, '{}');
        v_plain := cardinality(v_done);
        if v_plain > 0 then
            insert into crontick.successes (ended_at, job_ids) values (v_now, v_done);
        end if;
        if v_keyed is not null then
            delete from crontick.unique_keys as k where k.job = any(v_keyed) and k.mode = 'active';
        end if;
        if v_called is not null then
            insert into crontick.group_calls (group_digest) select unnest(v_called);
        end if;
    end if;

    -- Everything else, the successes of rows that were locked among it.
    v_endings := array(
        select e from json_populate_recordset(null::crontick.ending, coalesce(p_endings, '[]')) as e
    );
    if v_plain < coalesce(cardinality(p_ids), 0) then
        v_endings := v_endings || array(
            select json_populate_record(
                null::crontick.ending,
                json_build_object('id', e.id, 'claim', e.claim, 'outcome', 'succeeded')
            )
            from unnest(p_ids, p_claims) as e (id, claim)
            where e.id <> all(v_done)
        );
    end if;
    cancelled := '{}';
    if exists (select from crontick.cancel_requests) then
        delete from crontick.cancel_requests as r where r.job = any(v_done);
        -- An attempt that was asked to stop, and did not succeed, ends its job also where it never heard of it (P10).
        cancelled := array(
            select e.id
            from unnest(v_endings) as e
            join crontick.cancel_requests as r on r.job = e.id
            where e.outcome in ('failed', 'snoozed', 'handed_back')
        );
        for v_nth in 1..cardinality(v_endings) loop
            if v_endings[v_nth].id = any(cancelled) then
                v_endings[v_nth].outcome := 'cancelled';
                v_endings[v_nth].error := coalesce(v_endings[v_nth].error, 'it was asked to stop');
            end if;
        end loop;
    end if;
    if cardinality(v_endings) > 0 then
        select s.settled, s.refused into v_settled, refused from crontick.settle_endings(p_opening, v_endings, v_now, p_limits) as s;
        v_done := v_done || v_settled;
    end if;

    -- A claim's row goes when the last of its jobs is settled.
    delete from crontick.claims as c
    where c.claim = any(array(select distinct e.claim from unnest(p_claims) as e (claim) union select e.claim from unnest(v_endings) as e))
        and not exists (
            select
            from crontick.unfinished_jobs as j
            where j.id = any(c.job_ids) and j.claim = c.claim and j.status = 'running'
        );

    lost := '{}';
    held := '{}';
    already := '{}';
    if cardinality(v_done) < coalesce(cardinality(p_ids), 0) + coalesce(json_array_length(p_endings), 0) then
        select
            coalesce(array_agg(left_over.id) filter (where left_over.fate = 'lost'), '{}'),
            coalesce(array_agg(left_over.id) filter (where left_over.fate = 'held'), '{}'),
            coalesce(array_agg(left_over.id) filter (where left_over.fate = 'already'), '{}')
        into lost, held, already
        from (
            select
                e.id,
                case
                    when exists (
                        select from crontick.unfinished_jobs as j where j.id = e.id and j.claim = e.claim and j.status = 'running'
                    ) then 'held'
                    when exists (
                        select
                        from crontick.attempts as a
                        where a.job = e.id and a.claim = e.claim and a.outcome = 'rescued'
                    ) then 'lost'
                    when exists (select from crontick.unfinished_jobs as j where j.id = e.id and j.claim = e.claim)
                        or exists (
                            select
                            from crontick.finished_jobs as f
                            where f.id = e.id and f.claim = e.claim and f.status <> 'cancelled'
                        )
                        or exists (select from crontick.attempts as a where a.job = e.id and a.claim = e.claim and a.outcome <> 'rescued')
                        then 'already'
                    else 'lost'
                end as fate
            from (
                select e.id, e.claim from unnest(p_ids, p_claims) as e (id, claim)
                union all
                select e.id, e.claim from json_populate_recordset(null::crontick.ending, coalesce(p_endings, '[]')) as e
            ) as e
            where e.id <> all(v_done)
        ) as left_over;
    end if;

    -- What complete has ended is no outcome of this settle: the tick's row remembers which it has counted, for a repeat (P1).
    -- What the function raised after it is kept as a note (P8).
    completed := '{}';
    if cardinality(already) > 0 and exists (select from unnest(v_endings) as e where e.completed) then
        completed := array(
            select f.id
            from unnest(v_endings) as e
            join crontick.finished_jobs as f on f.id = e.id and f.claim = e.claim and f.status = 'succeeded'
            where e.completed and e.id = any(already)
        );
        insert into crontick.attempts (
            job, claim, tick, started_at, ended_at, number, retryable, kind, outcome, error, fingerprint
        )
        select f.id, f.claim, f.claimed_by, f.claimed_at, v_now, f.attempt, false, f.kind, 'succeeded', e.error, e.fingerprint
        from unnest(v_endings) as e
        join crontick.finished_jobs as f on f.id = e.id
        where f.id = any(settle.completed) and e.error is not null and e.fingerprint is distinct from 'crontick:not-committed'
            and not exists (select from crontick.attempts as a where a.job = f.id and a.claim = f.claim);
    end if;

    if exists (select from unnest(v_endings) as e where e.target is not null) then
        perform crontick.call_targets(
            v_endings,
            v_done || array(
                select c.id
                from unnest(settle.completed) as c (id)
                where c.id <> all(array(select unnest(t.completed) from crontick.ticks as t where t.opening = p_opening))
            ),
            v_now
        );
    end if;
    update crontick.ticks as t
    set
        succeeded = t.succeeded + v_plain
            + (select count(*) from unnest(settle.completed) as c (id) where c.id <> all(t.completed))
            + (select count(*) from unnest(v_endings) as e where e.outcome = 'succeeded' and e.id = any(v_done)),
        failed = t.failed + (select count(*) from unnest(v_endings) as e where e.outcome = 'failed' and e.id = any(v_done)),
        dead = t.dead + (select count(*) from unnest(v_endings) as e where e.outcome = 'dead' and e.id = any(v_done)),
        snoozed = t.snoozed + (select count(*) from unnest(v_endings) as e where e.outcome = 'snoozed' and e.id = any(v_done)),
        cancelled = t.cancelled + (select count(*) from unnest(v_endings) as e where e.outcome = 'cancelled' and e.id = any(v_done)),
        handed_back = t.handed_back + (select count(*) from unnest(v_endings) as e where e.outcome = 'handed_back' and e.id = any(v_done)),
        duplicates = t.duplicates + (select count(*) from unnest(v_endings) as e where e.duplicate and e.id = any(v_done)),
        lost = t.lost + coalesce(cardinality(settle.lost), 0),
        kinds = coalesce(p_kinds, t.kinds),
        completed = t.completed || array(select c.id from unnest(settle.completed) as c (id) where c.id <> all(t.completed))
    where t.opening = p_opening and (v_plain > 0 or v_endings <> '{}');
    return next;
end
$$;
