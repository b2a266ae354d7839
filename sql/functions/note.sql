-- One line in the audit: who, when, what and why. session_user is kept beside "by", which is only what the caller says (P33).
-- Whoever decides something may have made a job due: watchers look.
create function crontick.note(p_action text, p_target text, p_job bigint, p_by text, p_reason text, p_details jsonb) returns void
language sql volatile
as $$
    insert into crontick.audit_log (at, by, session_role, action, target, job, reason, details)
    values (crontick.now(), p_by, session_user, p_action, p_target, p_job, p_reason, p_details);
    select crontick.tell_watchers()
$$;
