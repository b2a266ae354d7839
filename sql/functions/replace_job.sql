-- Give a job that has not started another payload and other times, in the caller's transaction: from then on no claim takes it
-- before that transaction ends. False: it has started or ended, and is left as it was. It keeps its place in its group, but one
-- that is to run later leaves the line, lest it block the others until then. What held it for its payload is judged afresh.
create function crontick.replace_job(
    p_id bigint, p_payload jsonb, p_run_at timestamptz, p_expires_at timestamptz, p_now timestamptz
) returns boolean
language plpgsql volatile
as $$
declare
    v_group_digest bytea;
begin
    update crontick.unfinished_jobs as j
    set
        payload = p_payload, run_at = p_run_at, expires_at = p_expires_at, updated_at = p_now,
        in_line = j.in_line and p_run_at <= p_now,
        held_by = case when j.held_by in ('kind', 'pause', 'suspect') or (j.held_by = 'group' and p_run_at <= p_now) then j.held_by end,
        due_at = case
            when j.held_by in ('kind', 'pause', 'suspect') or (j.held_by = 'group' and p_run_at <= p_now) then 'infinity'
            else p_run_at
        end
    where j.id = p_id and j.status = 'queued' and j.started_at is null
    returning j.group_digest into v_group_digest;
    if not found then
        return false;
    end if;
    if v_group_digest is not null then
        insert into crontick.group_calls (group_digest) values (v_group_digest);
    end if;
    return true;
end
$$;
