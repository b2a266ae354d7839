-- By what a dead job is grouped with others: the fingerprint of its last attempt that had one, else an empty text.
create function crontick.fingerprint_of(p_job bigint) returns text
language sql stable
as $$
    select coalesce(
        (
            select a.fingerprint
            from crontick.attempts as a
            where a.job = p_job and a.fingerprint is not null
            order by a.number desc, a.ended_at desc
            limit 1
        ), ''
    )
$$;
