-- Whether a payload holds one of these fields in clear. What is sealed is listed in its own $sealed.
create function crontick.has_clear_secret(p_secret text[], p_payload jsonb) returns boolean
language sql immutable
as $$
    select exists (
        select
        from unnest(p_secret) as secret (field)
        where p_payload ? secret.field and not coalesce(p_payload #> '{$sealed,fields}' ? secret.field, false)
    )
$$;
