-- How long the latest jobs that succeeded took from their claim to their settle, by kind, the most frequent first.
with latest as (
    select f.kind, extract(epoch from f.finished_at - f.claimed_at)::float8 as seconds
    from crontick.finished_jobs as f
    where f.status <> 'dead' and f.status = 'succeeded' and f.claimed_at is not null
    order by f.finished_at desc
    limit %(look_at)s
)

select
    l.kind, count(*) as jobs,
    percentile_cont(0.5) within group (order by l.seconds) as p50,
    percentile_cont(0.95) within group (order by l.seconds) as p95
from latest as l
group by l.kind
order by jobs desc, l.kind
limit %(at_most)s
