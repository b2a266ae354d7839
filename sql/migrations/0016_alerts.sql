-- Alerts: what is wrong or was, whom it is told, until when somebody wants no more of it; and how often triggers are to come.

create table crontick.alerts (
    id bigint generated always as identity primary key,
    name text not null,
    subject text not null,
    since timestamptz not null,       -- when it began, which may be before a tick saw it
    started_at timestamptz not null,  -- when a tick saw it
    ended_at timestamptz,
    told_at timestamptz,              -- when the first channel took that it started
    counted bigint not null,
    what text not null,               -- in crontick's own words, as all but error (P31)
    mend text not null,
    error text,
    job bigint
);
create unique index alerts_active on crontick.alerts (name, subject) where ended_at is null;
create index alerts_ended on crontick.alerts (ended_at) where ended_at is not null;

-- What each channel is told: that it started, and that it ended.
create table crontick.alert_messages (
    alert bigint not null,
    channel text not null,
    event text not null,
    tries int not null default 0,
    next_try_at timestamptz not null,  -- while a tick sends it: when another one may
    claimed_by bigint,                 -- the opening of the tick that sends it
    told_at timestamptz,
    error text,
    primary key (alert, channel, event),
    constraint event_is_known check (event in ('started', 'ended'))
);
create index alert_messages_untold on crontick.alert_messages (next_try_at) where told_at is null;

create table crontick.alert_silences (
    name text primary key,
    until timestamptz not null,
    silenced_at timestamptz not null,
    by text not null,
    reason text,
    session_role text not null
);

-- What is wrong just now, as alert_conditions finds it.
create type crontick.alert_condition as (
    name text,
    subject text,
    since timestamptz,
    counted bigint,
    what text,
    mend text,
    error text,
    job bigint
);

create index finished_jobs_died on crontick.finished_jobs (finished_at) where status = 'dead' and resolution is null;
create index attempts_failed on crontick.attempts (ended_at) where outcome in ('failed', 'dead');
create index unfinished_jobs_sealed on crontick.unfinished_jobs (held_by) where held_by like 'key:%';
create index ticks_unended on crontick.ticks (started_at) where ended_at is null;
create index ticks_trigger on crontick.ticks (trigger, started_at);

alter table crontick.deployments add column expected_every interval;
