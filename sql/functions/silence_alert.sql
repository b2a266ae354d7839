-- Nobody is told of the alerts of this name, or of the one that is name:subject, for so long; nothing: from now on again. They start and
-- end meanwhile, and one that is still active is told afterwards.
create function crontick.silence_alert(name text, seconds float8, by text, reason text default null) returns timestamptz
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_now constant timestamptz := crontick.now();
    v_until timestamptz;
begin
    perform crontick.check_actor(silence_alert.by, silence_alert.reason);
    if length(silence_alert.name) not between 1 and 300 or silence_alert.seconds is null or silence_alert.seconds not between 0 and 7776000 then
        raise exception 'a silence has the name of an alert, and lasts 90 days at most'
            using errcode = 'CT004', hint = 'select crontick.silence_alert(''breaker_open'', 7200, ''me'', ''why'')';
    end if;
    v_until := v_now + make_interval(secs => silence_alert.seconds);
    insert into crontick.alert_silences as s (name, until, silenced_at, by, reason, session_role)
    values (silence_alert.name, v_until, v_now, silence_alert.by, silence_alert.reason, session_user)
    on conflict (name) do update
    set until = excluded.until, silenced_at = excluded.silenced_at, by = excluded.by, reason = excluded.reason, session_role = excluded.session_role;
    perform crontick.note(
        'silence', silence_alert.name, null, silence_alert.by, silence_alert.reason, jsonb_build_object('seconds', silence_alert.seconds)
    );
    return v_until;
end
$$;
