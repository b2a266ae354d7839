-- Receivers of webhooks by name, as crontick.set_endpoint writes them, and the hold of jobs whose endpoint is paused or disabled.

create table crontick.webhook_endpoints (
    name text primary key,
    url text not null,
    secret text not null,  -- whsec_…, or sealed by the first tick that reads it where there are keys (P37)
    old_secret text,       -- signs beside the other until that moment
    old_secret_until timestamptz,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    constraint name_has_a_length check (length(name) between 1 and 128),
    constraint url_is_http check (url ~ '^https?://[^\s\\[:cntrl:]]+$' and length(url) <= 2048),
    constraint old_secret_has_an_end check ((old_secret is null) = (old_secret_until is null))
);

-- A note that held jobs of an endpoint may go: whoever holds one leaves it, and whoever opens the endpoint again.
create table crontick.endpoint_calls (
    name text not null
) with (autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0);

-- What an answer paused: 410.
alter table crontick.pauses add column status_code int;

-- "endpoint:NAME" holds a job until that endpoint is open again.
alter table crontick.unfinished_jobs
drop constraint held_by_is_known,
add constraint held_by_is_known check (
    held_by in ('group', 'kind', 'pause', 'limit', 'breaker', 'suspect') or held_by ~ '^key:[a-z0-9][a-z0-9_-]{0,31}$'
    or (left(held_by, 9) = 'endpoint:' and length(held_by) between 10 and 137)
);
