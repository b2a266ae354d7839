-- A closing tick's share of retention: every ten minutes 2 % of its budget, and while rows are behind in each tick up to 20 %, but
-- never more than is left of it. One tick prunes at a time. The batch follows the time that it takes, and shrinks when the
-- database refuses it or it runs into the statement's time-out: nothing that happens here keeps the tick from closing.
create function crontick.retain(p_opening bigint, p_seconds float8[], p_now timestamptz) returns void
language plpgsql volatile
as $$
declare
    v_state crontick.installation;
    v_began constant timestamptz := clock_timestamp();
    v_share interval;
    v_left interval;
    v_started timestamptz;
    v_took interval;
    v_batch int;
    v_more boolean;
    v_error text;
begin
    select * into v_state
    from crontick.installation as i
    where i.pruned_at < p_now - interval '10 minutes'
    for update skip locked;
    if not found then
        return;
    end if;
    select
        (t.deadline - t.started_at) * 0.02,
        least(
            (t.deadline - t.started_at) * (case when v_state.behind_since is null then 0.02 else 0.2 end),
            t.deadline - p_now,
            -- A kept connection that says nothing for three seconds in its first trip is taken for dead; any statement ends at ten.
            case when t.claimed = 0 then interval '2 seconds' else interval '8 seconds' end
        )
    into v_share, v_left
    from crontick.ticks as t
    where t.opening = p_opening;
    v_batch := case when v_left > interval '0' then v_state.prune_batch else 10 end;
    loop
        v_started := clock_timestamp();
        begin
            select p.more into v_more from crontick.prune(p_seconds, p_now, v_batch) as p;
        exception when others or query_canceled then
            v_more := true;
            v_error := left(sqlstate || ': ' || sqlerrm, 500);
        end;
        v_took := clock_timestamp() - v_started;
        if v_error is not null then
            v_batch := greatest(v_batch / 4, 10);
        elsif v_took > v_share / 2 then
            v_batch := greatest(v_batch / 2, 10);
        elsif v_more and v_took < v_share / 8 then
            v_batch := least(v_batch * 2, 5000);
        end if;
        exit when v_error is not null or not v_more or clock_timestamp() + v_took > v_began + v_left;
    end loop;
    update crontick.installation as i
    set
        pruned_at = case when v_more then '-infinity' else p_now end,
        behind_since = case when v_more then coalesce(i.behind_since, p_now) end,
        prune_batch = case when v_left > interval '0' or v_error is not null then v_batch else i.prune_batch end,
        prune_error = v_error
    where i.singleton;
end
$$;
