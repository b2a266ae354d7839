-- What an attempt calls, as its breaker knows it: a named endpoint, a URL without what may be secret or differs from call to call
-- (login, query, fragment), else the kind. Null, hence no breaker, where that cannot be read: it is sealed.
create or replace function crontick.target_of(p_kind text, p_payload jsonb) returns text
language sql immutable
as $$
    select case
        when p_kind <> 'deliver_webhook' then 'kind:' || p_kind
        when jsonb_typeof(p_payload -> 'endpoint') = 'string' then 'endpoint:' || (p_payload ->> 'endpoint')
        when jsonb_typeof(p_payload -> 'url') = 'string' then crontick.target_url(p_payload ->> 'url')
    end
$$;
