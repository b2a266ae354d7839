-- The key of a job's marker: the payload's field that its kind names, else the first job of its lineage (P22).
-- Null where the kind has no marker.
create function crontick.marker_key(p_markers jsonb, p_kind text, p_payload jsonb, p_first_job bigint, p_id bigint) returns text
language sql immutable
as $$
    select case
        when p_markers ? p_kind
            then coalesce(
                nullif(p_payload ->> (p_markers -> p_kind ->> 'field'), ''), 'job:' || coalesce(p_first_job, p_id)::text
            )
    end
$$;
