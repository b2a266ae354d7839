-- The jobs of an enqueue_many, in their order; a delay_seconds is a run_at, counted from now.
create function crontick.timed(jobs jsonb) returns jsonb
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select
        coalesce(
            jsonb_agg(
                case
                    when element.job ? 'delay_seconds'
                        then (element.job - 'delay_seconds') || jsonb_build_object(
                            'run_at', crontick.now() + make_interval(secs => (element.job ->> 'delay_seconds')::float8)
                        )
                    else element.job
                end
                order by element.place
            ),
            '[]'
        )
    from jsonb_array_elements(timed.jobs) with ordinality as element (job, place)
$$;
