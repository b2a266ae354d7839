-- -> queued: insert up to 10,000 jobs, given as a JSON array of objects with the arguments of enqueue. Unique keys are taken
-- in the order of their digests, so that two of these calls never deadlock. nth is the place in the array, from 1.
-- A time without a zone is UTC: the session's zone would make of one text another moment for each caller.
create function crontick.enqueue_many(jobs jsonb) returns table (nth int, id bigint, created boolean)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
#variable_conflict use_column
declare
    v_job record;
    v_unknown text;
begin
    if jobs is null or jsonb_typeof(jobs) <> 'array' then
        raise exception 'enqueue_many takes a JSON array of objects'
            using errcode = 'CT004', hint = '[{"kind": "...", "payload": {}}]';
    end if;
    if jsonb_array_length(jobs) > 10000 or octet_length(jobs::text) > 16777216 then
        raise exception 'enqueue_many takes 10000 jobs and 16 MiB at most, not % jobs and % bytes',
            jsonb_array_length(jobs), octet_length(jobs::text)
            using errcode = 'CT002', hint = 'send several batches';
    end if;
    select key.name into v_unknown
    from jsonb_array_elements(jobs) as element (job)
    cross join lateral jsonb_object_keys(
        case when jsonb_typeof(element.job) = 'object' then element.job else '{"not an object": 0}' end
    ) as key (name)
    where key.name not in (
        'kind', 'payload', 'run_at', 'queue', 'priority', 'max_attempts', 'unique_key', 'unique_for', 'group_key', 'on_conflict',
        'expires_at'
    )
    limit 1;
    if v_unknown is not null then
        raise exception 'enqueue_many does not know the field "%"',
            left(v_unknown, 80)
            using errcode = 'CT004', hint = 'the fields are the arguments of crontick.enqueue';
    end if;
    perform crontick.tell_watchers();
    for v_job in
        select element.place, j.*
        from jsonb_array_elements(jobs) with ordinality as element (job, place)
        cross join lateral jsonb_to_record(element.job) as j (
            kind text, payload jsonb, run_at timestamptz, queue text, priority int, max_attempts int, unique_key text,
            unique_for text, group_key text, on_conflict text, expires_at timestamptz
        )
        order by
            case when j.unique_key is not null then sha256(convert_to(j.kind || chr(10) || j.unique_key, 'UTF8')) end nulls first,
            element.place
    loop
        nth := v_job.place;
        select put.id, put.created into id, created
        from crontick.insert_job(
            v_job.kind, v_job.payload, v_job.run_at, v_job.queue, v_job.priority, v_job.max_attempts, v_job.unique_key,
            coalesce(v_job.unique_for, 'active'), v_job.group_key, coalesce(v_job.on_conflict, 'keep'), v_job.expires_at
        ) as put;
        return next;
    end loop;
end
$$;
