-- A URL as the target of a breaker. Tenants share hosts, so the path belongs to it (P27).
create or replace function crontick.target_url(p_url text) returns text
language sql immutable
as $$
    select left(regexp_replace(regexp_replace(p_url, '[?#].*$', ''), '^([a-zA-Z]+://)[^/@]*@', '\1'), 2048)
$$;
