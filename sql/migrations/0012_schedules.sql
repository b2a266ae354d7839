-- Schedules: what the deployment that was made known last declares, how far each one is, and what became of its slots.

create table crontick.declared_schedules (
    name text primary key,
    cron text not null,
    tz text not null,
    kind text not null,
    payload jsonb not null,
    queue text,
    priority int,
    catch_up text not null,
    at_most int not null,
    late_seconds float8 not null,
    overlap text not null,
    spread_seconds int not null,       -- by which this one is behind its slots
    starts_at timestamptz not null,    -- slots at or before it do not fire: the first sync, a change of cron or tz, a resume
    last_slot_at timestamptz,
    last_slot_local text,
    last_slot_fold int,
    next_at timestamptz,               -- null: nobody can say, see error
    look_at timestamptz not null,      -- when a tick computes again: a day at most, for zone data change
    jobs bigint[] not null default '{}',  -- those of the last fire, and what people ran since
    fired_by bigint,                   -- the opening of the tick that wrote this row last, by which its repeat is recognised
    answer jsonb,                      -- what that tick was told, for its repeat
    fired_at timestamptz,
    fired bigint not null default 0,
    missed bigint not null default 0,
    skipped bigint not null default 0,
    skips_in_a_row int not null default 0,
    skipped_slot_at timestamptz,
    error text,
    deployment text not null,
    synced_at timestamptz not null,
    removed_at timestamptz,
    constraint catch_up_is_known check (catch_up in ('latest', 'none', 'all')),
    constraint overlap_is_known check (overlap in ('skip', 'allow')),
    constraint numbers_in_range check (
        priority between -100 and 100 and at_most between 1 and 100 and late_seconds >= 0 and spread_seconds between 0 and 86400
    ),
    constraint a_slot_is_whole check (
        (last_slot_at is null) = (last_slot_local is null) and (last_slot_at is null) = (last_slot_fold is null)
    )
) with (fillfactor = 50);
create index declared_schedules_look on crontick.declared_schedules (look_at) where removed_at is null;
create index declared_schedules_wrong on crontick.declared_schedules (name) where error is not null and removed_at is null;

-- The digest of the schedules that a deployment declares, and of those in force: where they differ, its ticks say so.
alter table crontick.deployments add column schedules text not null default '';
alter table crontick.installation add column schedules text not null default '';
alter table crontick.ticks add column scheduled int not null default 0;
