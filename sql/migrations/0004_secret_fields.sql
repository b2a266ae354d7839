-- Which fields of a kind are secret, which rows have yet to be sealed, and the hold of rows whose key a deployment lacks (P37).

alter table crontick.kinds add column secret text[] not null default '{}';

-- A note that a row holds a secret field in clear: an enqueue from SQL leaves one, the tick that seals the row takes it away.
create table crontick.unsealed (
    kind text not null,
    job bigint not null
) with (autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0);
create index unsealed_kind on crontick.unsealed (kind, job);

-- "key:ID" holds a job until a deployment has that key.
alter table crontick.unfinished_jobs
drop constraint held_by_is_known,
add constraint held_by_is_known check (
    held_by in ('group', 'kind', 'pause', 'limit', 'breaker', 'suspect') or held_by ~ '^key:[a-z0-9][a-z0-9_-]{0,31}$'
);
alter type crontick.ending add attribute held_by text;
