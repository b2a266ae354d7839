-- The schedules that a deployment declares become those in force, by name: removed ones stop, changed ones keep their last slot,
-- and slots of a new one, or of a changed cron or tz, count from now on. False where another transaction holds one of them: the
-- deployment is then not yet known, and the next exchange tries again (P2). p_schedules: with the next slot after now of each.
create function crontick.sync_schedules(p_hash text, p_digest text, p_schedules jsonb, p_now timestamptz) returns boolean
language plpgsql volatile
as $$
declare
    v_free constant bigint := (
        select count(*)
        from (select from crontick.declared_schedules as s order by s.name for update skip locked) as free
    );
begin
    if v_free < (select count(*) from crontick.declared_schedules) then
        return false;
    end if;
    update crontick.declared_schedules as s
    set
        starts_at = case when g.moved then p_now else s.starts_at end,
        next_at = case when g.moved then g.next_at else least(s.next_at, g.next_at) end,
        look_at = least(
            case when not g.moved then s.look_at end, coalesce(g.next_at, p_now + interval '1 hour'), p_now + interval '1 day'
        ),
        error = case when g.moved or s.next_at is null or g.error is not null then g.error else s.error end,
        skips_in_a_row = case when g.moved then 0 else s.skips_in_a_row end,
        cron = g.cron, tz = g.tz, kind = g.kind, payload = g.payload, queue = g.queue, priority = g.priority,
        catch_up = g.catch_up, at_most = g.at_most, late_seconds = g.late_seconds, overlap = g.overlap,
        spread_seconds = g.spread_seconds, deployment = p_hash, synced_at = p_now, removed_at = null
    from (
        select given.*, old.cron <> given.cron or old.tz <> given.tz or old.removed_at is not null as moved
        from jsonb_to_recordset(p_schedules) as given (
            name text, cron text, tz text, kind text, payload jsonb, queue text, priority int, catch_up text, at_most int,
            late_seconds float8, overlap text, spread_seconds int, next_at timestamptz, error text
        )
        join crontick.declared_schedules as old on old.name = given.name
    ) as g
    where s.name = g.name;
    insert into crontick.declared_schedules (
        name, cron, tz, kind, payload, queue, priority, catch_up, at_most, late_seconds, overlap, spread_seconds, starts_at, next_at,
        look_at, error, deployment, synced_at
    )
    select
        g.name, g.cron, g.tz, g.kind, g.payload, g.queue, g.priority, g.catch_up, g.at_most, g.late_seconds, g.overlap,
        g.spread_seconds, p_now, g.next_at,
        least(coalesce(g.next_at, p_now + interval '1 hour'), p_now + interval '1 day'), g.error, p_hash, p_now
    from jsonb_to_recordset(p_schedules) as g (
        name text, cron text, tz text, kind text, payload jsonb, queue text, priority int, catch_up text, at_most int,
        late_seconds float8, overlap text, spread_seconds int, next_at timestamptz, error text
    )
    order by g.name
    on conflict do nothing;
    update crontick.declared_schedules as s
    set removed_at = p_now
    where s.removed_at is null and not exists (
        select
        from jsonb_to_recordset(p_schedules) as g (name text)
        where g.name = s.name
    );
    update crontick.installation as i set schedules = p_digest where i.schedules <> p_digest;
    return true;
end
$$;
