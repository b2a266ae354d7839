-- running -> queued, failed or cancelled, for jobs whose lease ran out: their process died, or was frozen past its lease (P5).
-- A job whose process died is suspect and from then on runs alone; it is dead after two rescues from claims in which it was
-- alone. Honours a cancel request (P10); a marker it had reserved is in doubt (P20). Skips what others hold.
create function crontick.rescue(p_now timestamptz, p_bound int default 1000) returns int
language plpgsql volatile
as $$
declare
    v_claim record;
    v_ids bigint [];
    v_dead bigint [];
    v_cancelled bigint [];
    v_kind text;
    v_rescued int := 0;
begin
    for v_claim in
        select c.claim, c.tick, c.alone, c.job_ids
        from crontick.claims as c
        where c.lease_expires_at <= p_now
        order by c.claim
        limit 100
        for update skip locked
    loop
        exit when v_rescued >= p_bound;
        v_ids := array(
            select j.id
            from crontick.unfinished_jobs as j
            where j.id = any(v_claim.job_ids) and j.claim = v_claim.claim and j.status = 'running'
            order by j.id
            for update skip locked
        );
        v_rescued := v_rescued + cardinality(v_ids);

        update crontick.markers as m
        set state = 'in_doubt', settled_at = p_now
        where m.claim = v_claim.claim and m.state = 'reserved' and m.job = any(v_ids);

        insert into crontick.attempts (
            job, claim, tick, started_at, ended_at, number, retryable, alone, kind, outcome, error, fingerprint
        )
        select
            j.id, j.claim, j.claimed_by, j.claimed_at, p_now, j.attempt, true, v_claim.alone, j.kind, 'rescued',
            'the process died or froze under it: its lease ran out', 'crontick:rescued'
        from crontick.unfinished_jobs as j
        where j.id = any(v_ids);

        update crontick.unfinished_jobs as j
        set
            status = 'queued', lease_expires_at = null, held_by = 'suspect', due_at = 'infinity', updated_at = p_now,
            lone_rescues = j.lone_rescues + v_claim.alone::int,
            last_error = 'the process died or froze under it: its lease ran out', last_error_at = p_now
        where j.id = any(v_ids);

        v_cancelled := array(select r.job from crontick.cancel_requests as r where r.job = any(v_ids));
        if cardinality(v_cancelled) > 0 then
            perform crontick.finish_each(v_cancelled, 'cancelled', 'it was asked to stop, and its process died', p_now);
        end if;
        v_dead := array(
            select j.id from crontick.unfinished_jobs as j where j.id = any(v_ids) and j.lone_rescues >= 2 and j.status = 'queued'
        );
        if cardinality(v_dead) > 0 then
            perform crontick.finish_each(v_dead, 'dead', 'the process died under it, twice while it ran alone', p_now);
        end if;

        if not exists (
            select
            from crontick.unfinished_jobs as j
            where j.id = any(v_claim.job_ids) and j.claim = v_claim.claim and j.status = 'running'
        ) then
            delete from crontick.claims as c where c.claim = v_claim.claim;
        end if;
    end loop;

    -- Five deaths of one kind in an hour pause the kind.
    if v_rescued > 0 then
        for v_kind in
            select a.kind
            from crontick.attempts as a
            where a.outcome = 'rescued' and a.alone and a.ended_at > p_now - interval '1 hour'
                and not exists (select from crontick.pauses as p where p.what = 'kind' and p.name = a.kind)
            group by a.kind
            having count(*) >= 5
        loop
            insert into crontick.pauses (what, name, paused_at, by, reason, session_role)
            values ('kind', v_kind, p_now, 'crontick', 'five processes died under it within an hour', session_user)
            on conflict do nothing;
            perform crontick.note('pause', 'kind ' || v_kind, null, 'crontick', 'five processes died under it within an hour', null);
        end loop;
    end if;
    return v_rescued;
end
$$;
