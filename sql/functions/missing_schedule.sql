-- No deployment that is in force declares a schedule of that name.
create function crontick.missing_schedule(p_name text) returns void
language plpgsql stable
as $$
begin
    raise exception 'there is no schedule %',
        coalesce(left(p_name, 80), 'null')
        || crontick.did_you_mean(p_name, array(select s.name from crontick.declared_schedules as s where s.removed_at is null))
        using errcode = 'CT404', hint = '`crontick schedules list`';
end
$$;
