-- When the first breaker that holds jobs (of these kinds; null: of any) has to be looked at; null: none holds any, or only what a
-- person opened. Calls that nobody could answer yet, for another had their target's lock, are due at once: the jobs of a probe may
-- hang on them.
create function crontick.breakers_due(p_now timestamptz, p_known text[]) returns timestamptz
language sql stable
as $$
    select case
        when exists (select from crontick.target_calls as c where p_known is null or c.kind = any(p_known)) then p_now
        else (
            select greatest(b.look_at, p_now)
            from crontick.breakers as b
            where b.look_at is not null and (p_known is null or b.kind = any(p_known)) and not crontick.breaker_waits(b, p_now)
                and exists (select from crontick.unfinished_jobs as j where j.held_by = b.hold and j.held_by <> 'group')
            order by b.look_at
            limit 1
        )
    end
$$;
