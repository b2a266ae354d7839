-- Of these jobs, in their order, those for which every one of their lines has room. A token is drawn for each. The others are held
-- by a line that has none; a job of a line that another tick is drawing from has no answer yet and stays due.
-- A line is locked before it is judged by a later statement, hence in a new snapshot: no two ticks see the same room.
create function crontick.admit_limited(p_ids bigint[], p_claim bigint, p_now timestamptz, p_limits jsonb, p_taken bigint[])
returns bigint[]
language plpgsql volatile
as $$
declare
    v_wanted text [];
    v_holds text [];
    v_tokens int [];
    v_seats int [];
    v_drawn int [];
    v_waits boolean [];
    v_admitted bigint [];
    v_held bigint [];
    v_held_by text [];
begin
    v_wanted := array(
        select distinct l.hold
        from crontick.unfinished_jobs as j
        cross join lateral crontick.lines_of(p_limits, j.kind, j.queue, j.payload) as l
        where j.id = any(p_ids)
    );
    if cardinality(v_wanted) = 0 then
        return p_ids;
    end if;
    -- One tick at a time makes lines: no insert waits for another's.
    if exists (
        select from unnest(v_wanted) as w (hold) where not exists (select from crontick.limit_lines as l where l.hold = w.hold)
    ) and pg_try_advisory_xact_lock('crontick.limit_lines'::regclass::oid::int, 0) then
        insert into crontick.limit_lines (hold, limit_name, key, said)
        select distinct on (l.hold) l.hold, l.name, left(l.key, 200), ''
        from crontick.unfinished_jobs as j
        cross join lateral crontick.lines_of(p_limits, j.kind, j.queue, j.payload) as l
        where j.id = any(p_ids) and not exists (select from crontick.limit_lines as there where there.hold = l.hold)
        order by l.hold
        on conflict do nothing;
    end if;
    v_holds := array(
        select l.hold from crontick.limit_lines as l where l.hold = any(v_wanted) order by l.hold for update skip locked
    );
    select array_agg(r.tokens), array_agg(r.seats)
    into v_tokens, v_seats
    from crontick.room_in_lines(p_limits, v_holds, p_now, p_claim, p_taken) as r;

    select s.admitted, s.held, s.held_by, s.drawn, s.waits
    into v_admitted, v_held, v_held_by, v_drawn, v_waits
    from crontick.share_room(p_ids, p_limits, v_holds, v_tokens, v_seats) as s;

    update crontick.limit_lines as line
    set
        -- Never back, but for a changed limit: another tick may have drawn by a later clock than this one's.
        tat = coalesce(case when w.drawn > 0 then after.paid_at end, least(line.tat, r.paid_at)),
        said = r.said,
        look_at = case
            when line.look_at is null and not w.waits then null
            when r.seats <= w.drawn then 'infinity'
            when r.tokens <= w.drawn then after.paid_at - (r.burst - 1) * r.spacing
            else p_now
        end
    from crontick.room_in_lines(p_limits, v_holds, p_now, p_claim, p_taken) as r
    join unnest(v_holds, v_drawn, v_waits) as w (hold, drawn, waits) on w.hold = r.hold
    cross join lateral (select r.paid_at + w.drawn * r.spacing as paid_at) as after
    where line.hold = r.hold and (w.drawn > 0 or w.waits);

    -- A suspect keeps its hold, by which it runs alone (P5), and waits by its time.
    update crontick.unfinished_jobs as j
    set
        held_by = case when j.held_by = 'suspect' then j.held_by else w.hold end,
        run_at = case
            when j.held_by = 'suspect' then coalesce(nullif(line.look_at, 'infinity'), p_now + interval '1 minute')
            else j.run_at
        end,
        due_at = 'infinity',
        updated_at = p_now
    from unnest(v_held, v_held_by) as w (id, hold)
    join crontick.limit_lines as line on line.hold = w.hold
    where j.id = w.id;
    return v_admitted;
end
$$;
