-- Of the probes chosen among p_ids just now under this claim, those that do not start after all leave their place to another: while
-- one stays due it is the next to be tried, and one that a limit holds comes back when its line has room, as others of it would. Their
-- locks are held by this transaction.
create function crontick.give_back_probes(p_ids bigint[], p_started bigint[], p_claim bigint, p_now timestamptz) returns void
language sql volatile
as $$
    update crontick.breakers as b
    set
        state = 'open', probe_claim = null, probe_until = null,
        look_at = coalesce(
            (
                select case line.look_at when 'infinity' then p_now + interval '1 minute' else line.look_at end
                from crontick.unfinished_jobs as j
                join crontick.limit_lines as line on line.hold = j.held_by
                where j.id = b.probe_job
            ),
            p_now
        )
    where b.state = 'half_open' and b.probe_claim = p_claim and b.probe_job = any(p_ids) and b.probe_job <> all(p_started)
$$;
