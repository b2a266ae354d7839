-- How often a tick is to come: as the deployment that ticked last declares, else as the trigger's own ticks show; null: nobody knows.
create function crontick.expected_every(p_trigger text) returns interval
language sql stable
as $$
    select coalesce(
        (
            select d.expected_every
            from crontick.deployments as d
            where d.hash = (select t.deployment from crontick.ticks as t order by t.started_at desc limit 1)
        ),
        crontick.learned_every(p_trigger)
    )
$$;
