-- A receiver that answered 410 wants no more: its endpoint is paused by the transaction that writes the answer down. Where somebody
-- is just pausing or resuming it, that goes before, and the next 410 disables it.
create function crontick.disable_endpoints(p_jobs bigint[], p_now timestamptz) returns void
language plpgsql volatile
as $$
declare
    v_gone record;
    v_reason text;
begin
    for v_gone in
        select crontick.endpoint_of(j.kind, j.payload) as name, min(j.id) as job
        from crontick.unfinished_jobs as j
        where j.id = any(p_jobs) and length(crontick.endpoint_of(j.kind, j.payload)) between 1 and 128
        group by name
        order by name
    loop
        continue when not pg_try_advisory_xact_lock(crontick.endpoint_lock(v_gone.name));
        v_reason := format('it answered 410, Gone, to job %s', v_gone.job);
        insert into crontick.pauses (what, name, paused_at, by, reason, session_role, status_code)
        values ('endpoint', v_gone.name, p_now, 'crontick', v_reason, session_user, 410)
        on conflict do nothing;
        if found then
            perform crontick.note('disable', 'endpoint ' || v_gone.name, v_gone.job, 'crontick', v_reason, null);
        end if;
    end loop;
end
$$;
