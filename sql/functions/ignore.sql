-- A dead job is resolved: somebody decided to leave it, with a reason.
create function crontick.ignore(id bigint, by text, reason text) returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_status text;
begin
    perform crontick.check_actor(ignore.by, ignore.reason);
    if coalesce(ignore.reason, '') = '' then
        raise exception 'ignoring job % needs a reason',
            ignore.id
            using errcode = 'CT004', hint = 'say why nothing has to be done';
    end if;
    update crontick.finished_jobs as f
    set resolution = 'ignored', resolved_at = crontick.now(), resolved_by = ignore.by, resolved_reason = ignore.reason
    where f.id = ignore.id and f.status = 'dead' and f.resolution is null;
    if found then
        perform crontick.note('ignore', 'job ' || ignore.id, ignore.id, ignore.by, ignore.reason, null);
        return;
    end if;
    select j.status || coalesce(' and ' || j.resolution, '') into v_status from crontick.jobs as j where j.id = ignore.id;
    if not found then
        perform crontick.missing_job(ignore.id);
    end if;
    raise exception 'job % is %: there is nothing to ignore',
        ignore.id, v_status
        using errcode = 'CT409', hint = 'only unresolved dead jobs are ignored';
end
$$;
