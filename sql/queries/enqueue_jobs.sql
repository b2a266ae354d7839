-- -> queued, up to 10,000 at once, in the caller's transaction. A delay counts from the database's now.
with given as materialized (
    select %(jobs)s::text::jsonb as jobs
),

timed as (
    select
        jsonb_agg(
            case
                when element.job ? 'delay_seconds'
                    then (element.job - 'delay_seconds') || jsonb_build_object(
                        'run_at', crontick.now() + make_interval(secs => (element.job ->> 'delay_seconds')::float8)
                    )
                else element.job
            end
            order by element.place
        ) as jobs
    from given
    cross join jsonb_array_elements(given.jobs) with ordinality as element (job, place)
)

select m.nth, m.id
from timed
cross join crontick.enqueue_many(coalesce(timed.jobs, '[]')) as m
order by m.nth
