-- Jobs that wait in a line go back into the due index, as many as there is room for, by priority and age; p_want at most, for more
-- seats are not free. So many lines at a time, those first that have waited longest to be looked at: of a hundred thousand none
-- starves. And those whose limit was changed or is no more, whenever they were to be looked at. A line is locked before it is judged
-- by a later statement; one that another tick has locked is that tick's to look at.
create function crontick.free_limited(p_limits jsonb, p_now timestamptz, p_want int, p_bound int default 20) returns int
language plpgsql volatile
as $$
declare
    v_full text [];
    v_holds text [];
    v_line record;
    v_room int;
    v_expired bigint [];
    v_freed bigint [];
    v_spent int;
    v_rest boolean;
    v_all int := 0;
begin
    if not exists (select from crontick.limit_lines as l where l.look_at is not null limit 1) then
        return 0;
    end if;
    v_full := array(
        select r.hold
        from crontick.running_by_line(
            (select jsonb_agg(l.value) from jsonb_array_elements(p_limits) as l (value) where l.value ? 'concurrency'),
            p_now, null, null
        ) as r
        join jsonb_to_recordset(p_limits) as n (name text, concurrency int) on n.name = split_part(r.hold, ':', 2)
        where r.jobs >= n.concurrency
    );
    v_holds := array(
        select l.hold
        from crontick.limit_lines as l
        where l.look_at is not null and l.look_at <= p_now
        order by l.look_at, l.hold
        limit p_bound
        for update skip locked
    ) || array(
        select l.hold
        from crontick.limit_lines as l
        where l.look_at is not null and l.look_at = 'infinity' and l.hold <> all(v_full)
        order by l.look_at, l.hold
        limit p_bound
        for update skip locked
    );
    v_holds := v_holds || array(
        select c.hold from unnest(crontick.changed_lines(p_limits, p_bound)) as c (hold) where c.hold <> all(v_holds)
    );
    for v_line in select r.* from crontick.room_in_lines(p_limits, v_holds, p_now, null, null) as r loop
        exit when v_all >= p_want;
        v_room := case when v_line.gated then least(v_line.tokens, v_line.seats, p_want - v_all) else 500 end;
        v_spent := 0;
        if v_room > 0 then
            -- What has expired takes no room: those among the first go too, to be cancelled.
            v_expired := array(
                select j.id
                from (
                    select h.id, h.expires_at
                    from crontick.unfinished_jobs as h
                    where h.held_by = v_line.hold and h.held_by like 'limit:%'
                    order by h.held_by, h.priority desc, h.run_at, h.id
                    limit v_room + 50
                ) as front
                join crontick.unfinished_jobs as j on j.id = front.id
                where front.expires_at <= p_now and j.held_by = v_line.hold
                order by j.id
                for update of j skip locked
            );
            v_freed := array(
                select h.id
                from crontick.unfinished_jobs as h
                where h.held_by = v_line.hold and h.held_by like 'limit:%' and h.id <> all(v_expired)
                order by h.held_by, h.priority desc, h.run_at, h.id
                limit v_room
                for update skip locked
            );
            update crontick.unfinished_jobs as j set held_by = null, due_at = j.run_at where j.id = any(v_expired || v_freed);
            v_spent := cardinality(v_freed);
        end if;
        v_all := v_all + v_spent;
        v_rest := exists (
            select from crontick.unfinished_jobs as h where h.held_by = v_line.hold and h.held_by like 'limit:%' limit 1
        );
        if v_line.gated or v_rest then
            update crontick.limit_lines as l
            set
                tat = least(l.tat, v_line.paid_at),
                said = coalesce(v_line.said, l.said),
                look_at = case
                    when not v_rest then null
                    when v_line.seats <= v_spent then 'infinity'
                    when v_line.tokens <= v_spent then v_line.paid_at + (v_spent - v_line.burst + 1) * v_line.spacing
                    else p_now
                end
            where l.hold = v_line.hold;
        else
            delete from crontick.limit_lines as l where l.hold = v_line.hold;
        end if;
    end loop;
    return v_all;
end
$$;
