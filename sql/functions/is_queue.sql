-- Whether a kind, a schedule or an unfinished job has that queue.
create function crontick.is_queue(p_name text) returns boolean
language sql stable
as $$
    select
        exists (select from crontick.kinds as k where k.queue = p_name)
        or exists (select from crontick.declared_schedules as s where s.queue = p_name and s.removed_at is null)
        or exists (select from crontick.unfinished_jobs as j where j.queue = p_name)
$$;
