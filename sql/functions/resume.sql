-- What was paused is claimed again; parked rows go back into the due index at the next openings.
create function crontick.resume(what text, name text, by text, reason text default null) returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
    perform crontick.check_actor(resume.by, resume.reason);
    if resume.what = 'endpoint' then
        perform pg_advisory_xact_lock(crontick.endpoint_lock(resume.name));
        insert into crontick.endpoint_calls (name) values (resume.name);
    end if;
    delete from crontick.pauses as p
    where p.what = resume.what and p.name = case when resume.what = 'all' then '' else resume.name end;
    if not found then
        raise exception '% is not paused', concat_ws(' ', resume.what, nullif(resume.name, ''))
            using errcode = 'CT404', hint = '`crontick status` shows what is paused';
    end if;
    -- Slots inside a pause are not missed (P24): the next tick computes the one after now.
    update crontick.declared_schedules as s
    set
        starts_at = crontick.now(),
        next_at = case when s.next_at > crontick.now() then s.next_at end,
        look_at = case when s.next_at > crontick.now() then s.look_at else crontick.now() end
    where resume.what = 'all' or (resume.what = 'schedule' and s.name = resume.name);
    perform crontick.note('resume', resume.what || coalesce(' ' || nullif(resume.name, ''), ''), null, resume.by, resume.reason, null);
end
$$;
