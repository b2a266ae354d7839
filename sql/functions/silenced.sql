-- Whether nobody is to be told of this alert just now: its name is silenced, or name:subject.
create function crontick.silenced(p_name text, p_subject text, p_now timestamptz) returns boolean
language sql stable
as $$
    select exists (
        select from crontick.alert_silences as s where s.name in (p_name, p_name || ':' || p_subject) and s.until > p_now
    )
$$;
