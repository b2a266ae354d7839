-- Payloads in clear are replaced by the same ones sealed: [{"id", "kind", "digest", "sealed"}], each only where the payload still
-- has that digest (SHA-256 of its text, in hex). Without "sealed" there was nothing to seal, and only the note goes. What others
-- hold, or run, is skipped (P2): its note stays. Returns the ids that are done. A tick that its opening closed is open again.
create function crontick.seal_jobs(p_opening bigint, p_sealed json) returns bigint[]
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
    v_now constant timestamptz := crontick.now();
    v_tick constant bigint := (select t.id from crontick.ticks as t where t.opening = p_opening);
    v_waiting bigint [];
    v_ended bigint [];
begin
    if p_opening is not null then
        perform crontick.reopen_tick(p_opening, v_now);
    end if;
    v_waiting := array(
        select j.id
        from json_to_recordset(p_sealed) as s (id bigint, digest text)
        join crontick.unfinished_jobs as j on j.id = s.id
        where (j.status <> 'running' or j.claimed_by = v_tick)
            and encode(sha256(convert_to(j.payload::text, 'UTF8')), 'hex') = s.digest
        order by j.id
        for update of j skip locked
    );
    update crontick.unfinished_jobs as j
    set payload = s.sealed
    from json_to_recordset(p_sealed) as s (id bigint, sealed jsonb)
    where j.id = s.id and j.id = any(v_waiting) and s.sealed is not null;
    v_ended := array(
        select f.id
        from json_to_recordset(p_sealed) as s (id bigint, digest text)
        join crontick.finished_jobs as f on f.id = s.id
        where encode(sha256(convert_to(f.payload::text, 'UTF8')), 'hex') = s.digest
        order by f.id
        for update of f skip locked
    );
    update crontick.finished_jobs as f
    set payload = s.sealed
    from json_to_recordset(p_sealed) as s (id bigint, sealed jsonb)
    where f.id = s.id and f.id = any(v_ended) and s.sealed is not null;
    -- Nobody else takes these notes away: whoever seals a row has locked it.
    delete from crontick.unsealed as u
    using json_to_recordset(p_sealed) as s (id bigint, kind text)
    where u.kind = s.kind and u.job = s.id and s.id = any(v_waiting || v_ended);
    -- Notes whose rows retention has taken: looked for among the oldest, which is where they gather.
    delete from crontick.unsealed as u
    where u.ctid = any(
        array(
            select n.ctid
            from crontick.unsealed as n
            where n.ctid = any(
                array(
                    select old.ctid
                    from crontick.unsealed as old
                    where old.kind = any(array(select s.kind from json_to_recordset(p_sealed) as s (kind text)))
                    order by old.kind, old.job
                    limit 500
                )
            )
                and not exists (select from crontick.unfinished_jobs as j where j.id = n.job)
                and not exists (select from crontick.finished_jobs as f where f.id = n.job)
            for update skip locked
        )
    );
    return v_waiting || v_ended;
end
$$;
