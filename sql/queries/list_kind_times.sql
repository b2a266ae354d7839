-- How the attempts of the last ticks went, kind by kind; quantiles are made of the buckets, whose edges are in jobs/tally.py.
with last as (
    select t.kinds
    from crontick.ticks as t
    where t.started_at > crontick.now() - make_interval(secs => %(within_seconds)s)
    order by t.started_at desc
    limit %(at_most)s
),

tallies as (
    select k.key as kind, k.value as tally
    from last as l
    cross join lateral jsonb_each(l.kinds) as k
),

buckets as (
    select t.kind, b.nth, sum(b.attempts::bigint)::bigint as attempts
    from tallies as t
    cross join lateral jsonb_array_elements_text(t.tally -> 'buckets') with ordinality as b (attempts, nth)
    group by t.kind, b.nth
),

filled as (
    select b.kind, array_agg(b.attempts order by b.nth) as buckets from buckets as b
    group by b.kind
)

select
    t.kind, f.buckets, sum((t.tally ->> 'n')::bigint)::bigint as attempts, sum((t.tally ->> 'failed')::bigint)::bigint as failed,
    sum((t.tally ->> 'dead')::bigint)::bigint as dead, sum((t.tally ->> 'ms_sum')::bigint)::bigint as ms_sum,
    max((t.tally ->> 'ms_max')::bigint) as ms_max
from tallies as t
inner join filled as f on t.kind = f.kind
group by t.kind, f.buckets
order by t.kind
