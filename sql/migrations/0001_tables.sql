-- Everything that crontick keeps: unfinished jobs in one small hot table, finished ones in another, and what stands around them.

create table crontick.installation (
    environment text not null,
    version int not null,
    oldest_code int not null,
    strict_kinds boolean not null default false,
    pruned_at timestamptz not null default '-infinity',
    created_at timestamptz not null default statement_timestamp(),
    singleton boolean primary key default true check (singleton)
);
comment on table crontick.installation is 'One row: its environment, schema version and the oldest code it serves.';

create sequence crontick.job_ids;

-- Unfinished jobs. A claim changes no indexed column, so that it is a HOT update into the room that fillfactor leaves;
-- whatever ends a job moves it to finished_jobs.
create table crontick.unfinished_jobs (
    id bigint primary key default nextval('crontick.job_ids'),
    claim bigint,
    claimed_by bigint,
    first_job bigint,
    requeued_from bigint,
    run_at timestamptz not null,
    due_at timestamptz not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    started_at timestamptz,
    claimed_at timestamptz,
    lease_expires_at timestamptz,
    expires_at timestamptz,
    last_error_at timestamptz,
    priority int not null,
    attempt int not null default 0,
    max_attempts int,
    last_status_code int,
    progress_done bigint,
    progress_total bigint,
    handed_back smallint not null default 0,
    lone_rescues smallint not null default 0,
    in_line boolean not null default false,
    kind text not null,
    queue text not null,
    status text not null default 'queued',
    held_by text,
    group_digest bytea,
    group_key text,
    unique_key text,
    last_error text,
    payload jsonb not null,
    constraint status_is_unfinished check (status in ('queued', 'running', 'failed')),
    constraint lease_while_running check ((status = 'running') = (lease_expires_at is not null)),
    constraint held_by_is_known check (held_by in ('group', 'kind', 'pause', 'limit', 'breaker', 'suspect')),
    constraint run_at_is_near check (run_at >= '2000-01-01 00:00Z' and run_at <= created_at + interval '10 years'),
    constraint numbers_in_range check (priority between -100 and 100 and max_attempts between 1 and 100 and attempt >= 0)
) with (
    fillfactor = 45,
    autovacuum_vacuum_scale_factor = 0.05,
    autovacuum_vacuum_threshold = 1000,
    autovacuum_vacuum_cost_delay = 0
);

-- The due index holds runnable rows only: what is held is outside it, so that nothing walks over it.
create index unfinished_jobs_due on crontick.unfinished_jobs (queue, priority, due_at, id) where due_at < 'infinity';
create index unfinished_jobs_held on crontick.unfinished_jobs (held_by, kind, id) where held_by <> 'group';
create index unfinished_jobs_waiting on crontick.unfinished_jobs (group_digest, id) where held_by = 'group';
-- The net below the placer: one job of a group at the head of its line.
create unique index unfinished_jobs_head on crontick.unfinished_jobs (group_digest) where in_line and held_by is distinct from 'group';

create table crontick.finished_jobs (
    id bigint primary key,
    claim bigint,
    claimed_by bigint,
    first_job bigint,
    requeued_from bigint,
    requeued_as bigint,
    run_at timestamptz not null,
    created_at timestamptz not null,
    started_at timestamptz,
    claimed_at timestamptz,
    finished_at timestamptz not null,
    expires_at timestamptz,
    last_error_at timestamptz,
    resolved_at timestamptz,
    priority int not null,
    attempt int not null,
    max_attempts int,
    last_status_code int,
    progress_done bigint,
    progress_total bigint,
    kind text not null,
    queue text not null,
    status text not null,
    group_key text,
    unique_key text,
    last_error text,
    resolution text,
    resolved_by text,
    resolved_reason text,
    payload jsonb not null,
    result jsonb,
    constraint status_is_finished check (status in ('succeeded', 'dead', 'cancelled')),
    constraint resolution_is_known check (resolution in ('requeued', 'ignored', 'sent', 'not_sent')),
    constraint only_the_dead_are_resolved check (resolution is null or status = 'dead')
) with (autovacuum_vacuum_insert_scale_factor = 0.5);

create index finished_jobs_dead on crontick.finished_jobs (id) where status = 'dead' and resolution is null;
-- Rows arrive in the order of their end, so that a few pages of summary find what is old.
create index finished_jobs_ended on crontick.finished_jobs using brin (finished_at) with (pages_per_range = 32, autosummarize = on);

-- Which jobs were taken together, and until when: the lease needs no index on the jobs.
create table crontick.claims (
    claim bigint primary key,
    tick bigint not null,
    lease_expires_at timestamptz not null,
    alone boolean not null,
    more boolean,
    job_ids bigint[] not null
) with (fillfactor = 50, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0);
create index claims_tick on crontick.claims (tick);

-- A note that a group may have room: whoever enqueues into a group or ends its head leaves one, the placer answers it.
create table crontick.group_calls (
    group_digest bytea not null
) with (autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0);
create index group_calls_digest on crontick.group_calls (group_digest);

create table crontick.unique_keys (
    digest bytea primary key,
    job bigint not null,
    free_at timestamptz not null,
    mode text not null,
    kind text not null,
    key text not null,
    constraint mode_is_known check (mode in ('active', 'waiting', 'interval', 'always'))
);
create index unique_keys_active on crontick.unique_keys (job) where mode = 'active';
create index unique_keys_waiting on crontick.unique_keys (job) where mode = 'waiting';

create table crontick.cancel_requests (
    job bigint primary key,
    requested_at timestamptz not null,
    by text not null,
    reason text
);

-- Every attempt that did not simply succeed, and every one that sent something.
create table crontick.attempts (
    job bigint not null,
    claim bigint not null,
    tick bigint,
    started_at timestamptz,
    ended_at timestamptz not null,
    retry_at timestamptz,
    number int not null,
    status_code int,
    retryable boolean not null,
    alone boolean not null default false,
    kind text not null,
    outcome text not null,
    error text,
    fingerprint text,
    provider text,
    provider_message_id text,
    constraint outcome_is_known check (
        outcome in ('succeeded', 'failed', 'dead', 'snoozed', 'cancelled', 'handed_back', 'rescued')
    )
);
create index attempts_job on crontick.attempts (job, number);
create index attempts_deaths on crontick.attempts (kind, ended_at) where outcome = 'rescued';

-- The record that something was sent, by key. No row means free.
create table crontick.markers (
    kind text not null,
    digest bytea not null,
    key text not null,
    state text not null,
    job bigint not null,
    claim bigint not null,
    reserved_at timestamptz not null,
    settled_at timestamptz,
    provider text,
    provider_message_id text,
    content_hash text,
    details jsonb,
    primary key (kind, digest),
    constraint state_is_known check (state in ('reserved', 'sent', 'in_doubt'))
);
create index markers_claim on crontick.markers (claim) where state = 'reserved';
create index markers_doubt on crontick.markers (kind, reserved_at) where state = 'in_doubt';

create table crontick.ticks (
    id bigint generated always as identity primary key,
    opening bigint not null unique,
    started_at timestamptz not null,
    deadline timestamptz not null,
    lease_expires_at timestamptz not null,
    ended_at timestamptz,
    scheduled_for timestamptz,
    trigger text,
    token text,
    stop_reason text,
    version text,
    host text,
    host_request_id text,
    deployment text,
    claimed int not null default 0,
    parked int not null default 0,
    succeeded int not null default 0,
    failed int not null default 0,
    dead int not null default 0,
    snoozed int not null default 0,
    cancelled int not null default 0,
    handed_back int not null default 0,
    duplicates int not null default 0,
    rescued int not null default 0,
    lost int not null default 0,
    reminders int not null default 0
) with (fillfactor = 70);
create index ticks_started on crontick.ticks (started_at);

-- Room for ticks that run at the same time. A slot names its end, so that a killed tick blocks nobody for longer than its lease.
create table crontick.tick_slots (
    slot int primary key,
    opening bigint,
    taken_until timestamptz not null default '-infinity'
) with (fillfactor = 20);
insert into crontick.tick_slots (slot) select generate_series(1, 100);

create table crontick.deployments (
    hash text primary key,
    version text not null,
    kinds text[] not null,
    first_seen_at timestamptz not null,
    last_seen_at timestamptz not null
);

-- What an enqueue from any language resolves a kind by.
create table crontick.kinds (
    name text primary key,
    queue text not null,
    priority int not null,
    max_attempts int not null,
    seen_at timestamptz not null
);

create table crontick.pauses (
    what text not null,
    name text not null,
    paused_at timestamptz not null,
    by text not null,
    reason text,
    session_role text not null,
    primary key (what, name),
    constraint what_is_known check (what in ('all', 'queue', 'kind', 'group', 'endpoint', 'schedule'))
);

create table crontick.reminder_records (
    reminder text not null,
    item_digest bytea not null,
    item_at timestamptz not null,
    item text not null,
    job bigint,
    recorded_at timestamptz not null,
    primary key (reminder, item_digest, item_at)
);
create index reminder_records_job on crontick.reminder_records (job);
create index reminder_records_age on crontick.reminder_records (recorded_at);

create table crontick.audit_log (
    id bigint generated always as identity primary key,
    at timestamptz not null,
    by text not null,
    session_role text not null,
    action text not null,
    target text not null,
    job bigint,
    reason text,
    details jsonb
);
create index audit_log_job on crontick.audit_log (job) where job is not null;

create table crontick.test_clock (
    ahead interval not null,
    singleton boolean primary key default true check (singleton)
);
