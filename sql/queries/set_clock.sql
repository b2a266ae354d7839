-- The test clock stands, for this transaction: at a moment, or so many seconds from now.
select
    set_config(
        'crontick.now',
        coalesce(%(at)s::timestamptz, crontick.now() + make_interval(secs => %(seconds)s::float8))::text,
        true
    ) as now
