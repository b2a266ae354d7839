-- Held jobs of endpoints that are open again go back into the due index, a bounded number at each opening (P3). A call goes in the
-- statement whose snapshot judged it, and stays while rows are left that it could not free: they were too many, or somebody held them.
create function crontick.free_endpoints(p_bound int default 500) returns int
language plpgsql volatile
as $$
declare
    v_name text;
    v_picked bigint [];
    v_freed int := 0;
begin
    for v_name in select distinct c.name from crontick.endpoint_calls as c order by c.name limit 100 loop
        v_picked := array(
            select h.id
            from crontick.unfinished_jobs as h
            where h.held_by = 'endpoint:' || v_name and h.held_by <> 'group' and h.status in ('queued', 'failed')
                and not exists (select from crontick.pauses as p where p.what = 'endpoint' and p.name = v_name)
            order by h.held_by, h.kind, h.id
            limit p_bound - v_freed
            for update of h skip locked
        );
        update crontick.unfinished_jobs as j set held_by = null, due_at = j.run_at where j.id = any(v_picked);
        v_freed := v_freed + cardinality(v_picked);
        delete from crontick.endpoint_calls as c
        where c.ctid = any(
            array(
                select mine.ctid
                from crontick.endpoint_calls as mine
                where mine.name = v_name and (
                    exists (select from crontick.pauses as p where p.what = 'endpoint' and p.name = v_name)
                    or not exists (
                        select
                        from crontick.unfinished_jobs as h
                        where h.held_by = 'endpoint:' || v_name and h.held_by <> 'group'
                    )
                )
                for update of mine skip locked
            )
        );
        exit when v_freed >= p_bound;
    end loop;
    return v_freed;
end
$$;
