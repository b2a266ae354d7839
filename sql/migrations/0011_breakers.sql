-- Breakers: what is known of targets that failed lately, and the hold of jobs that wait until theirs is well again.

-- A row is here only for a target that failed, until twenty successes in a row. It is written under the target's advisory lock
-- alone, which a tick tries and a person waits for.
create table crontick.breakers (
    hold text primary key,
    target text not null,
    kind text not null,
    state text not null default 'closed',
    failures int not null default 0,   -- in a row
    successes int not null default 0,  -- in a row
    outcomes int not null default 0,   -- the last twenty as bits, the latest is the lowest: 1 is a failure
    times_opened int not null default 0,
    opened_at timestamptz,
    retry_at timestamptz,              -- null while open: a person opened it, and nothing tries it
    probe_job bigint,                  -- open: was let go for it, half open: is it
    probe_claim bigint,
    probe_until timestamptz,
    let_go bigint[] not null default '{}',
    let_go_at timestamptz,
    look_at timestamptz,
    changed_at timestamptz not null,
    by text not null,
    reason text,
    constraint state_is_known check (state in ('open', 'half_open', 'closed')),
    constraint open_since check ((state = 'closed') = (opened_at is null)),
    constraint one_probe_while_half_open check (
        (state = 'half_open') = (probe_claim is not null) and (state = 'half_open') = (probe_until is not null)
        and (state <> 'half_open' or probe_job is not null)
    )
);
create index breakers_look on crontick.breakers (look_at, hold);
create index breakers_not_closed on crontick.breakers (hold) where state <> 'closed';

-- What attempts said of their targets, and claims that held jobs: whoever has the target's lock next answers them in this order.
create table crontick.target_calls (
    id bigint generated always as identity,
    hold text not null,
    target text not null,
    kind text not null,
    verdict text not null,
    job bigint,
    claim bigint,
    status_code int,
    constraint verdict_is_known check (verdict in ('ok', 'failed', 'nothing', 'held'))
) with (autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0);
create index target_calls_hold on crontick.target_calls (hold, id);

-- How an attempt found its target: ok, failed, or nothing where it cannot say; null for kinds without a breaker.
alter type crontick.ending add attribute target text;

-- "breaker:DIGEST" holds a job until its target's breaker is closed.
alter table crontick.unfinished_jobs
drop constraint held_by_is_known,
add constraint held_by_is_known check (
    held_by in ('group', 'kind', 'pause', 'suspect') or held_by ~ '^key:[a-z0-9][a-z0-9_-]{0,31}$'
    or (left(held_by, 9) = 'endpoint:' and length(held_by) between 10 and 137)
    or held_by ~ '^limit:[a-z0-9][a-z0-9_.-]{0,63}:[0-9a-f]{32}$'
    or held_by ~ '^breaker:[0-9a-f]{32}$'
);
