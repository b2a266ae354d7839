-- All that is wrong just now, in a bounded number of steps: every table is read through an index that holds what is wrong alone,
-- or its latest rows.
create function crontick.alert_conditions(p_now timestamptz, p_alerts jsonb) returns setof crontick.alert_condition
language plpgsql stable
as $$
begin
    return query select c.* from crontick.alerts_of_jobs(p_now, p_alerts) as c where not p_alerts -> 'off' ? c.name;
    return query select c.* from crontick.alerts_of_gates(p_now) as c where not p_alerts -> 'off' ? c.name;
    return query select c.* from crontick.alerts_of_ticks(p_now) as c where not p_alerts -> 'off' ? c.name;
end
$$;
