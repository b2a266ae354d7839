-- Nothing of this queue, kind, group … is claimed from the next exchange on; attempts that run go on. One row is written, however
-- many jobs it keeps.
create function crontick.pause(what text, name text, by text, reason text default null) returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
    perform crontick.check_actor(pause.by, pause.reason);
    if pause.what is null or pause.what not in ('all', 'queue', 'kind', 'group', 'endpoint', 'schedule') then
        raise exception 'what to pause is all, queue, kind, group, endpoint or schedule, not %',
            coalesce(quote_literal(left(pause.what, 80)), 'null')
            using errcode = 'CT004', hint = 'select crontick.pause(''queue'', ''mail'', ''me'', ''why'')';
    end if;
    if pause.what <> 'all' and coalesce(pause.name, '') = '' then
        raise exception 'which % is to be paused?', pause.what using errcode = 'CT004', hint = 'name it';
    end if;
    if pause.what = 'schedule'
        and not exists (select from crontick.declared_schedules as s where s.name = pause.name and s.removed_at is null) then
        perform crontick.missing_schedule(pause.name);
    end if;
    if pause.what = 'endpoint' then
        if length(pause.name) > 128 then
            raise exception 'the name of an endpoint has 1 to 128 characters' using errcode = 'CT004', hint = '`crontick webhook list` shows them';
        end if;
        if pause.name <> all(crontick.known_endpoints()) then
            perform crontick.missing_endpoint(pause.name);
        end if;
        perform pg_advisory_xact_lock(crontick.endpoint_lock(pause.name));
    end if;
    -- These may be paused before they come: a kind before its deploy, a queue before its first job. A group's name is data.
    if pause.what = 'kind' and not exists (select from crontick.kinds as k where k.name = pause.name) then
        raise warning 'paused, but no deployment knows the kind %',
            left(pause.name, 80) || crontick.did_you_mean(pause.name, array(select k.name from crontick.kinds as k))
            using errcode = 'CT001', hint = format('`crontick resume kind %s` takes it back', left(pause.name, 80));
    elsif pause.what = 'queue' and not crontick.is_queue(pause.name) then
        raise warning 'paused, but no kind, schedule or unfinished job has the queue %',
            left(pause.name, 80) || crontick.did_you_mean(pause.name, array(select distinct k.queue from crontick.kinds as k))
            using errcode = 'CT001', hint = format('`crontick resume queue %s` takes it back', left(pause.name, 80));
    end if;
    insert into crontick.pauses (what, name, paused_at, by, reason, session_role)
    values (pause.what, case when pause.what = 'all' then '' else pause.name end, crontick.now(), pause.by, pause.reason, session_user)
    on conflict do nothing;
    perform crontick.note('pause', pause.what || coalesce(' ' || nullif(pause.name, ''), ''), null, pause.by, pause.reason, null);
end
$$;
