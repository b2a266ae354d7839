-- What these lines have room for: tokens by the rate, seats by the concurrency; null where the limit says nothing of it. gated is
-- false for a limit that this deployment does not have. Who draws has locked the lines, in a statement before; a line that is not
-- there yet is as good as one that was not drawn from.
-- Where the limit was changed since the line was last drawn from, its bucket is empty at most: nobody waits as the old rate would.
create function crontick.room_in_lines(
    p_limits jsonb, p_holds text[], p_now timestamptz, p_claim bigint, p_taken bigint[]
) returns table (hold text, gated boolean, paid_at timestamptz, spacing interval, burst int, tokens int, seats int, said text)
language plpgsql stable
as $$
declare
    v_counted constant jsonb := (
        select jsonb_agg(l.value) from jsonb_array_elements(p_limits) as l (value) where l.value ? 'concurrency'
    );
begin
    return query
    with running as materialized (
        select r.hold, r.jobs from crontick.running_by_line(v_counted, p_now, p_claim, p_taken) as r where v_counted is not null
    )
    select
        wanted.hold, n.name is not null, owed.paid_at, every.spacing, n.burst,
        -- In whole tokens: what the bucket holds, less what is not yet paid off; after the clock went back that may be any amount.
        case when n.spacing_us is not null then greatest(
            div(extract(epoch from n.burst * every.spacing - (owed.paid_at - p_now)), extract(epoch from every.spacing)), 0
        )::int end,
        case when n.concurrency is not null then greatest(n.concurrency - coalesce(r.jobs, 0), 0) end,
        n.said
    from unnest(p_holds) with ordinality as wanted (hold, nth)
    left join crontick.limit_lines as line on line.hold = wanted.hold
    left join jsonb_to_recordset(p_limits) as n (
        name text, spacing_us bigint, burst int, concurrency int, said text
    ) on n.name = split_part(wanted.hold, ':', 2)
    cross join lateral (select n.spacing_us * interval '1 microsecond' as spacing) as every
    cross join lateral (
        select case
            when line.said is distinct from n.said then greatest(least(coalesce(line.tat, '-infinity'), p_now + n.burst * every.spacing), p_now)
            else greatest(line.tat, p_now)
        end as paid_at
    ) as owed
    left join running as r on r.hold = wanted.hold
    order by wanted.nth;
end
$$;
