-- in doubt -> sent, or free with a fresh job: a person decides what no machine can know. Returns the fresh job's id, or null: it
-- was sent, or its job is not over and sends it, or somebody cancelled that job.
create function crontick.resolve_doubt(kind text, key text, decision text, by text, reason text default null) returns bigint
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_marker crontick.markers;
    v_over crontick.finished_jobs;
    v_copy bigint;
begin
    perform crontick.check_actor(resolve_doubt.by, resolve_doubt.reason);
    if resolve_doubt.decision is null or resolve_doubt.decision not in ('sent', 'not_sent') then
        raise exception 'the decision is sent or not_sent, not %',
            coalesce(quote_literal(left(resolve_doubt.decision, 80)), 'null')
            using errcode = 'CT004', hint = 'sent: leave it; not_sent: send it again';
    end if;
    select * into v_marker
    from crontick.markers as m
    where m.kind = resolve_doubt.kind and m.digest = sha256(convert_to(resolve_doubt.key, 'UTF8'))
    for update;
    if not found or v_marker.state <> 'in_doubt' then
        raise exception 'the marker "%" of % is %, not in doubt',
            left(resolve_doubt.key, 200), resolve_doubt.kind, coalesce(v_marker.state, 'free')
            using errcode = 'CT409', hint = '`crontick doubts list` shows them';
    end if;
    select * into v_over
    from crontick.finished_jobs as f
    where f.id = v_marker.job and f.requeued_as is null
        and (f.status = 'succeeded' or (f.status = 'dead' and f.resolution is null))
    for update;
    perform crontick.note(
        'resolve_doubt', resolve_doubt.kind || ' ' || left(resolve_doubt.key, 200), v_marker.job, resolve_doubt.by,
        resolve_doubt.reason, jsonb_build_object('decision', resolve_doubt.decision)
    );
    if resolve_doubt.decision = 'sent' then
        update crontick.markers as m
        set state = 'sent', settled_at = crontick.now()
        where m.kind = v_marker.kind and m.digest = v_marker.digest;
        if v_over.status = 'dead' then
            update crontick.finished_jobs as f
            set resolution = 'sent', resolved_at = crontick.now(), resolved_by = resolve_doubt.by, resolved_reason = resolve_doubt.reason
            where f.id = v_over.id;
        end if;
        return null;
    end if;
    delete from crontick.markers as m where m.kind = v_marker.kind and m.digest = v_marker.digest;
    if v_over.id is not null then
        v_copy := crontick.copy_job(v_over, resolve_doubt.by, resolve_doubt.reason, null, null, 'not_sent');
    end if;
    return v_copy;
end
$$;
