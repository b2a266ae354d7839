-- Children are written by the settle that records the success, and dropped after any other end (P9). One that is refused undoes
-- neither the success nor its siblings: refused has its parent, why what was said of the first. One whose unique key an open
-- transaction holds is not waited for: its parent is held, and goes with the next exchange (P2).
create function crontick.keep_children(
    p_endings crontick.ending[], p_mine bigint[], p_now timestamptz, out refused bigint[], out held bigint[], out why text
)
language plpgsql volatile
as $$
declare
    v_before constant text := current_setting('lock_timeout');
    v_parent record;
    v_child jsonb;
    v_refused bigint [];
    v_why text;
begin
    refused := '{}';
    held := '{}';
    for v_parent in
        select e.id, e.children
        from unnest(p_endings) as e
        where e.id = any(p_mine) and e.outcome = 'succeeded' and e.children is not null
        order by e.id
    loop
        v_refused := '{}';
        v_why := why;
        begin
            -- A moment for those who commit at once; behind the first that does not, none.
            perform set_config('lock_timeout', case when cardinality(held) = 0 then '50' else '1' end, true);
            -- Its own key is free by then: a job may enqueue its successor under it.
            delete from crontick.unique_keys as k where k.job = v_parent.id and k.mode = 'active';
            for v_child in select * from jsonb_array_elements(v_parent.children)
            loop
                begin
                    perform crontick.enqueue(
                        c.kind, c.payload, coalesce(c.run_at, p_now + make_interval(secs => c.delay_seconds)), c.queue, c.priority,
                        c.max_attempts, c.unique_key, coalesce(c.unique_for, 'active'), c.group_key,
                        coalesce(c.on_conflict, 'keep'), c.expires_at
                    )
                    from jsonb_to_record(v_child) as c (
                        kind text, payload jsonb, run_at timestamptz, delay_seconds float8, queue text, priority int,
                        max_attempts int, unique_key text, unique_for text, group_key text, on_conflict text,
                        expires_at timestamptz
                    );
                exception when data_exception or integrity_constraint_violation or program_limit_exceeded or sqlstate 'CT000' then
                    v_refused := v_refused || v_parent.id;
                    v_why := coalesce(v_why, case when sqlstate like 'CT%' then sqlerrm else 'SQLSTATE ' || sqlstate end);
                end;
            end loop;
            perform set_config('lock_timeout', v_before, true);
            refused := refused || v_refused;
            why := v_why;
        exception when lock_not_available or deadlock_detected then
            held := held || v_parent.id;
        end;
    end loop;
end
$$;
