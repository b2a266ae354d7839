-- The endings that are more than a plain success: history, retries, attempts, markers, children. settled: the ids it wrote;
-- refused: the parent of each child that cannot be enqueued. Rows are taken in the order of their ids, skipping what others hold,
-- and parents of a child whose unique key somebody's open transaction holds.
create function crontick.settle_endings(
    p_opening bigint, p_endings crontick.ending[], p_now timestamptz, p_limits jsonb, out settled bigint[], out refused bigint[]
)
language plpgsql volatile
as $$
declare
    v_mine bigint [];
    v_ended bigint [];
    v_kept record;
begin
    refused := '{}';
    v_mine := array(
        select j.id
        from unnest(p_endings) as e
        join crontick.unfinished_jobs as j on j.id = e.id and j.claim = e.claim and j.status = 'running'
        order by j.id
        for update of j skip locked
    );
    if exists (select from unnest(p_endings) as e where e.children is not null) then
        select * into v_kept from crontick.keep_children(p_endings, v_mine, p_now);
        refused := v_kept.refused;
        v_mine := array(select m.id from unnest(v_mine) as m (id) where m.id <> all(v_kept.held));
    end if;

    if p_limits is not null then
        perform crontick.give_back(
            array(select e.id from unnest(p_endings) as e where e.outcome = 'handed_back' and not e.began and e.id = any(v_mine)),
            p_now, p_limits
        );
    end if;
    insert into crontick.attempts (
        job, claim, tick, started_at, ended_at, retry_at, number, status_code, retryable, kind, outcome, error, fingerprint,
        provider, provider_message_id, details
    )
    select
        j.id, j.claim, j.claimed_by, j.claimed_at, p_now,
        case when e.outcome in ('failed', 'snoozed') then p_now + make_interval(secs => e.delay_seconds) end,
        j.attempt, e.status_code, e.outcome = 'failed', j.kind, e.outcome, e.error, e.fingerprint,
        e.provider, e.provider_message_id, e.details
    from unnest(p_endings) as e
    join crontick.unfinished_jobs as j on j.id = e.id
    where e.id = any(v_mine)
        and (e.outcome in ('failed', 'dead', 'cancelled') or e.provider is not null or (e.outcome = 'handed_back' and e.began));

    if exists (select from unnest(p_endings) as e where e.outcome = 'dead' and e.status_code = 410) then
        perform crontick.disable_endpoints(
            array(select e.id from unnest(p_endings) as e where e.outcome = 'dead' and e.status_code = 410 and e.id = any(v_mine)), p_now
        );
    end if;
    if exists (select from unnest(p_endings) as e where e.marks is not null) then
        perform crontick.settle_markers(p_endings, p_now);
    end if;
    -- What was reserved and never entered is free: the attempt ended, and says of every marker that it entered how it left it.
    update crontick.markers as m
    set state = 'in_doubt', job = (m.details ->> 'repeats')::bigint
    where m.claim = any(array(select e.claim from unnest(p_endings) as e)) and m.state = 'reserved' and m.job = any(v_mine)
        and m.details ? 'repeats';
    delete from crontick.markers as m
    where m.claim = any(array(select e.claim from unnest(p_endings) as e)) and m.state = 'reserved' and m.job = any(v_mine);

    v_ended := array(select e.id from unnest(p_endings) as e where e.id = any(v_mine) and e.outcome in ('succeeded', 'dead', 'cancelled'));
    if cardinality(v_ended) > 0 then
        with ended as (
            delete from crontick.unfinished_jobs as j
            using unnest(p_endings) as e
            where j.id = e.id and j.id = any(v_ended)
            returning
                j.*, e.outcome, e.error, e.status_code, e.result, e.resolution
        ),
        kept as (
            insert into crontick.finished_jobs (
                id, claim, claimed_by, first_job, requeued_from, run_at, created_at, started_at, claimed_at, finished_at,
                expires_at, last_error_at, priority, attempt, max_attempts, last_status_code, progress_done, progress_total,
                kind, queue, status, group_key, unique_key, unique_for, last_error, payload, result
            )
            select
                e.id, e.claim, e.claimed_by, e.first_job, e.requeued_from, e.run_at, e.created_at, e.started_at, e.claimed_at,
                p_now, e.expires_at,
                case when e.error is null then e.last_error_at else p_now end,
                e.priority, e.attempt, e.max_attempts, coalesce(e.status_code, e.last_status_code),
                e.progress_done, e.progress_total, e.kind, e.queue, e.outcome, e.group_key, e.unique_key,
                e.unique_for,
                coalesce(e.error, e.last_error), e.payload, e.result
            from ended as e
        )
        insert into crontick.group_calls (group_digest)
        select distinct e.group_digest from ended as e where e.group_digest is not null;
        insert into crontick.successes (ended_at, job_ids)
        select p_now, array_agg(e.id) from unnest(p_endings) as e where e.id = any(v_ended) and e.outcome = 'succeeded' having count(*) > 0;
        delete from crontick.unique_keys as k where k.job = any(v_ended) and k.mode = 'active';
        delete from crontick.cancel_requests as r where r.job = any(v_ended);
    end if;

    update crontick.unfinished_jobs as j
    set
        status = case when e.outcome = 'failed' then 'failed' else 'queued' end,
        lease_expires_at = null,
        started_at = case when e.outcome = 'handed_back' and e.began is not true and j.started_at = j.claimed_at then null else j.started_at end,
        attempt = case when e.outcome = 'failed' then j.attempt else j.attempt - 1 end,
        run_at = timing.run_at,
        due_at = case when e.held_by is null then timing.run_at else 'infinity' end,
        held_by = e.held_by,
        in_line = j.in_line and (e.outcome = 'failed' and e.lets_pass) is not true,
        handed_back = case
            when e.outcome = 'handed_back' and e.began then j.handed_back + 1
            when e.outcome = 'handed_back' then j.handed_back
            else 0
        end,
        last_error = coalesce(e.error, j.last_error),
        last_error_at = case when e.error is null then j.last_error_at else p_now end,
        last_status_code = coalesce(e.status_code, j.last_status_code),
        updated_at = p_now
    from unnest(p_endings) as e
    cross join lateral (
        select case
            when e.outcome = 'handed_back' and coalesce(e.delay_seconds, 0) = 0
                then (select h.run_at from crontick.unfinished_jobs as h where h.id = e.id)
            else least(
                p_now + make_interval(secs => e.delay_seconds),
                (select h.created_at from crontick.unfinished_jobs as h where h.id = e.id) + interval '10 years'
            )
        end as run_at
    ) as timing
    where j.id = e.id and j.id = any(v_mine) and e.outcome in ('failed', 'snoozed', 'handed_back');
    if exists (select from unnest(p_endings) as e where e.lets_pass) then
        insert into crontick.group_calls (group_digest)
        select distinct j.group_digest
        from unnest(p_endings) as e
        join crontick.unfinished_jobs as j on j.id = e.id
        where e.id = any(v_mine) and e.outcome = 'failed' and e.lets_pass and j.group_digest is not null;
    end if;

    if cardinality(refused) > 0 then
        update crontick.finished_jobs as f
        set
            last_error = concat_ws('; ', e.error, format('%s of its children refused (the first: %s)', told.children, v_kept.why)),
            last_error_at = p_now
        from (select r.id, count(*) as children from unnest(refused) as r (id) group by r.id) as told
        join unnest(p_endings) as e on e.id = told.id
        where f.id = told.id;
    end if;
    settled := v_mine;
end
$$;
