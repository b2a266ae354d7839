-- The tokens of attempts that did not begin go back (P27). One whose time has passed came back by itself: giving it once more would
-- be one too many. A line that another tick has locked keeps its token: what waits there waits that much longer.
create function crontick.give_back(p_ids bigint[], p_now timestamptz, p_limits jsonb) returns void
language plpgsql volatile
as $$
begin
    with drawn as (
        select l.hold, n.spacing_us * interval '1 microsecond' as spacing, count(*) as jobs
        from crontick.unfinished_jobs as j
        cross join lateral crontick.lines_of(p_limits, j.kind, j.queue, j.payload) as l
        join jsonb_to_recordset(p_limits) as n (name text, spacing_us bigint) on n.name = l.name
        where j.id = any(p_ids) and p_now < j.claimed_at + n.spacing_us * interval '1 microsecond'
        group by l.hold, n.spacing_us
    ),
    locked as materialized (
        select line.hold
        from crontick.limit_lines as line
        where line.hold = any(array(select d.hold from drawn as d))
        order by line.hold
        for update skip locked
    )
    update crontick.limit_lines as line
    set tat = line.tat - d.jobs * d.spacing, look_at = case when line.look_at is not null then p_now end
    from drawn as d
    join locked as mine on mine.hold = d.hold
    where line.hold = d.hold;
end
$$;
