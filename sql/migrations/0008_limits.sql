-- The lines before limits, the hold of jobs that wait in one, and whether a tick left due jobs to another one's exchange.

-- One line for each value of a limit's key. Written by ticks alone, and only by the one that has its row locked: so what waits in
-- it and when to look at it never disagree.
create table crontick.limit_lines (
    hold text primary key,
    limit_name text not null,
    key text not null,
    said text not null,  -- what the limit said when the line was last looked at
    tat timestamptz not null default '-infinity',  -- when what was taken is paid off, one job every spacing (GCRA)
    look_at timestamptz  -- null: nothing waits; infinity: until one that runs has ended
) with (fillfactor = 50, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0);
create index limit_lines_look on crontick.limit_lines (look_at, hold) where look_at is not null;
create index limit_lines_said on crontick.limit_lines (limit_name, said) where look_at is not null;
create index limit_lines_idle on crontick.limit_lines (tat) where look_at is null;

alter table crontick.unfinished_jobs
drop constraint held_by_is_known,
add constraint held_by_is_known check (
    held_by in ('group', 'kind', 'pause', 'breaker', 'suspect') or held_by ~ '^key:[a-z0-9][a-z0-9_-]{0,31}$'
    or (left(held_by, 9) = 'endpoint:' and length(held_by) between 10 and 137)
    or held_by ~ '^limit:[a-z0-9][a-z0-9_.-]{0,63}:[0-9a-f]{32}$'
);
create index unfinished_jobs_limited on crontick.unfinished_jobs (held_by, priority desc, run_at, id) where held_by like 'limit:%';

alter table crontick.ticks add column deferred boolean not null default false;
