-- -> queued, in the caller's transaction. A delay counts from the database's now. JSON and moments come as text: an
-- application may have taught its driver to write those types in its own way.
select crontick.enqueue(
    kind => %(kind)s::text,
    payload => %(payload)s::text::jsonb,
    run_at => coalesce(%(run_at)s::text::timestamptz, crontick.now() + make_interval(secs => %(delay_seconds)s::float8)),
    queue => %(queue)s::text,
    priority => %(priority)s::int,
    max_attempts => %(max_attempts)s::int,
    unique_key => %(unique_key)s::text,
    unique_for => %(unique_for)s::text,
    group_key => %(group_key)s::text,
    on_conflict => %(on_conflict)s::text,
    expires_at => %(expires_at)s::text::timestamptz
)
