-- The error for an id that no job has.
create function crontick.missing_job(p_id bigint) returns void
language plpgsql immutable
as $$
begin
    raise exception 'there is no job %',
        coalesce(p_id::text, 'null')
        using errcode = 'CT404', hint = 'finished jobs are kept for a time only; `crontick jobs` lists what is there';
end
$$;
