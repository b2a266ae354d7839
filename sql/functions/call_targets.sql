-- What these endings say of their targets, left as calls and answered at once where nobody else is at it. A target in good health
-- has no row, and its successes leave nothing. Run after the endings were written: p_done are the jobs whose ending counts.
create function crontick.call_targets(p_endings crontick.ending[], p_done bigint[], p_now timestamptz) returns void
language plpgsql volatile
as $$
declare
    v_any boolean := exists (select from crontick.breakers);
    v_called int;
begin
    if not v_any and not exists (select from unnest(p_endings) as e where e.target = 'failed') then
        return;
    end if;
    insert into crontick.target_calls (hold, target, kind, verdict, job, claim, status_code)
    select crontick.breaker_hold(called.target), called.target, j.kind, e.target, e.id, e.claim, e.status_code
    from unnest(p_endings) with ordinality as e
    cross join lateral (
        select u.kind, u.payload from crontick.unfinished_jobs as u where u.id = e.id and u.claim = e.claim
        union all
        select f.kind, f.payload from crontick.finished_jobs as f where f.id = e.id and f.claim = e.claim
    ) as j
    cross join lateral (select crontick.target_of(j.kind, j.payload) as target) as called
    where e.target is not null and e.id = any(p_done) and called.target is not null
        and (
            e.target = 'failed'
            or exists (select from crontick.breakers as b where b.hold = crontick.breaker_hold(called.target))
        )
    order by e.ordinality;
    get diagnostics v_called = row_count;
    if v_called > 0 then
        perform crontick.judge_targets(p_now);
    end if;
end
$$;
