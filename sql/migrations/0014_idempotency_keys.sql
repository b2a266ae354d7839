-- What POST /api/jobs answered under an Idempotency-Key: kept for a day, whatever became of the jobs.

create table crontick.idempotency_keys (
    digest bytea primary key,
    body_digest bytea not null,
    answer jsonb not null default '[]',
    free_at timestamptz not null
);
create index idempotency_keys_free on crontick.idempotency_keys (free_at);
