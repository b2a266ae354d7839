-- How far running jobs are, as their functions said; a row that somebody holds is told next time.
create function crontick.write_progress(p_progress json, p_now timestamptz) returns void
language sql volatile
as $$
    update crontick.unfinished_jobs as j
    set progress_done = p.done, progress_total = p.total, updated_at = p_now
    from json_to_recordset(p_progress) as p (id bigint, claim bigint, done bigint, total bigint)
    where j.id = p.id and j.claim = p.claim and j.status = 'running'
        and j.id = any(
            array(
                select l.id
                from crontick.unfinished_jobs as l
                where l.id = any(array(select q.id from json_to_recordset(p_progress) as q (id bigint)))
                order by l.id
                for update skip locked
            )
        )
$$;
