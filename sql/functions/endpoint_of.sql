-- The endpoint that a job delivers to, by its name; null for what delivers to none.
create or replace function crontick.endpoint_of(p_kind text, p_payload jsonb) returns text
language sql immutable
as $$
    select case when p_kind = 'deliver_webhook' then p_payload ->> 'endpoint' end
$$;
