-- -> queued: insert a job in the caller's transaction. A unique key that is taken returns the existing job's id.
create function crontick.enqueue(
    kind text,
    payload jsonb default '{}',
    run_at timestamptz default null,
    queue text default null,
    priority int default null,
    max_attempts int default null,
    unique_key text default null,
    unique_for text default 'active',
    group_key text default null,
    on_conflict text default 'keep',
    expires_at timestamptz default null
) returns bigint
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    perform crontick.tell_watchers();
    return (
        crontick.insert_job(
            kind, payload, run_at, queue, priority, max_attempts, unique_key, unique_for, group_key, on_conflict, expires_at
        )
    ).id;
end
$$;
