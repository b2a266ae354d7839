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
        raise exception 'there is no schedule %', quote_literal(left(pause.name, 80))
            using errcode = 'CT404', hint = 'select name from crontick.schedules';
    end if;
    if pause.what = 'endpoint' then
        if length(pause.name) > 128 then
            raise exception 'the name of an endpoint has 1 to 128 characters' using errcode = 'CT004', hint = 'select * from crontick.endpoints';
        end if;
        perform pg_advisory_xact_lock(crontick.endpoint_lock(pause.name));
    end if;
    insert into crontick.pauses (what, name, paused_at, by, reason, session_role)
    values (pause.what, case when pause.what = 'all' then '' else pause.name end, crontick.now(), pause.by, pause.reason, session_user)
    on conflict do nothing;
    perform crontick.note('pause', pause.what || coalesce(' ' || nullif(pause.name, ''), ''), null, pause.by, pause.reason, null);
end
$$;
