-- The shapes that a tick and the database pass to and fro.

-- The due jobs of one queue and priority, and since when the first of them is due.
create type crontick.lane as (
    queue text,
    priority int,
    oldest_at timestamptz
);

create type crontick.claimed_job as (
    id bigint,
    kind text,
    payload text,
    attempt int,
    max_attempts int,
    handed_back int,
    suspect boolean,
    queue text,
    priority int,
    run_at timestamptz,
    created_at timestamptz,
    group_key text,
    unique_key text,
    first_job bigint,
    marker text,        -- the key that the claim looked at; null where the kind has none
    marker_state text,  -- reserved (by this claim), sent, in_doubt, or taken by another claim that lives
    marker_job bigint,  -- whose marker that is
    marker_seconds float8  -- taken: until that claim's lease ends
);

-- How one attempt ended, where there is more to say than that it succeeded.
create type crontick.ending as (
    id bigint,
    claim bigint,
    outcome text,
    error text,
    fingerprint text,
    status_code int,
    retryable boolean,
    delay_seconds float8,
    result jsonb,
    began boolean,
    duplicate boolean,
    completed boolean,
    provider text,
    provider_message_id text,
    resolution text,
    marks jsonb,
    children jsonb
);
