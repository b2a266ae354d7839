-- -> queued, once for each key; answers ids in the order of the jobs. A delay counts from the database's now.
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

select crontick.enqueue_once(%(key)s::bytea, %(body)s::bytea, timed.jobs)::text as answer
from timed
