-- Requeue or ignore dead letters, cancel jobs or run them now: those that the filter means, the oldest first. matching counts them, up
-- to 100,001; without p_confirmed nothing else is done, and with a smaller one it is refused (P22). One call acts on p_limit at most:
-- what is left is counted again by the next, so that a call whose answer was lost can be repeated. Dead letters in doubt are left
-- alone: those are decided one by one. Copies come due p_per_minute a minute from p_run_at on; next_at is when another would.
create function crontick.act_on_many(
    action text, by text, reason text, matching jsonb, confirmed int default null, at_most int default 1000,
    per_minute int default 600, run_at timestamptz default null
) returns table (matched int, done int, next_at timestamptz)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_now constant timestamptz := crontick.now();
    v_spacing constant interval := interval '1 minute' / greatest(act_on_many.per_minute, 1);
    v_unknown text;
    v_filter record;
    v_ids bigint[];
    v_id bigint;
begin
    perform crontick.check_actor(act_on_many.by, act_on_many.reason);
    if act_on_many.action is null or act_on_many.action not in ('requeue', 'ignore', 'cancel', 'run_now') then
        raise exception 'many jobs can be requeued, ignored, cancelled or run now, not %',
            coalesce(quote_literal(left(act_on_many.action, 80)), 'null')
            using errcode = 'CT004', hint = 'requeue, ignore, cancel or run_now';
    end if;
    if act_on_many.action = 'ignore' and coalesce(act_on_many.reason, '') = '' then
        raise exception 'ignoring jobs needs a reason' using errcode = 'CT004', hint = 'say why nothing has to be done';
    end if;
    select given.name into v_unknown
    from jsonb_object_keys(coalesce(act_on_many.matching, '{}')) as given (name)
    where given.name not in ('ids', 'status', 'kind', 'queue', 'group', 'error', 'fingerprint', 'endpoint')
    limit 1;
    if v_unknown is not null then
        raise exception 'jobs are not chosen by "%"', left(v_unknown, 80)
            using errcode = 'CT004', hint = 'ids, status, kind, queue, group, error, fingerprint and endpoint choose';
    end if;
    select * into v_filter
    from jsonb_to_record(coalesce(act_on_many.matching, '{}')) as f (
        ids bigint[], status text, kind text, queue text, "group" text, error text, fingerprint text, endpoint text
    );
    if act_on_many.action in ('requeue', 'ignore') then
        v_ids := array(
            select f.id
            from crontick.finished_jobs as f
            where
                f.status = 'dead' and f.resolution is null
                and (v_filter.ids is null or f.id = any(v_filter.ids))
                and (v_filter.status is null or v_filter.status = 'dead')
                and (v_filter.kind is null or f.kind = v_filter.kind)
                and (v_filter.queue is null or f.queue = v_filter.queue)
                and (v_filter."group" is null or f.group_key = v_filter."group")
                and (v_filter.error is null or strpos(lower(f.last_error), lower(v_filter.error)) > 0)
                and (v_filter.fingerprint is null or crontick.fingerprint_of(f.id) = v_filter.fingerprint)
                and (v_filter.endpoint is null or crontick.endpoint_of(f.kind, f.payload) = v_filter.endpoint)
                and f.id not in (select m.job from crontick.markers as m where m.state = 'in_doubt')
            order by f.id
            limit 100001
        );
    else
        v_ids := array(
            select j.id
            from crontick.unfinished_jobs as j
            where
                (v_filter.ids is null or j.id = any(v_filter.ids))
                and (v_filter.status is null or j.status = v_filter.status)
                and (v_filter.kind is null or j.kind = v_filter.kind)
                and (v_filter.queue is null or j.queue = v_filter.queue)
                and (v_filter."group" is null or j.group_key = v_filter."group")
                and (v_filter.error is null or strpos(lower(j.last_error), lower(v_filter.error)) > 0)
                and (v_filter.fingerprint is null or crontick.fingerprint_of(j.id) = v_filter.fingerprint)
                and (v_filter.endpoint is null or crontick.endpoint_of(j.kind, j.payload) = v_filter.endpoint)
                and case
                    when act_on_many.action = 'run_now' then j.status <> 'running' and j.run_at > v_now
                    else not exists (select from crontick.cancel_requests as r where r.job = j.id)
                end
            order by j.id
            limit 100001
        );
    end if;
    matched := cardinality(v_ids);
    done := 0;
    if act_on_many.confirmed is null then
        return next;
        return;
    end if;
    if matched > act_on_many.confirmed then
        raise exception '% jobs match, and % were confirmed: nothing was done', matched, act_on_many.confirmed
            using errcode = 'CT409', hint = 'look again, and confirm the count that you see then';
    end if;
    -- Whoever resolves one of them in this moment is waited for, and it is left out.
    if act_on_many.action in ('requeue', 'ignore') then
        v_ids := array(
            select f.id
            from crontick.finished_jobs as f
            where f.id = any(v_ids[:act_on_many.at_most]) and f.status = 'dead' and f.resolution is null
            order by f.id
            for update
        );
    end if;
    next_at := coalesce(act_on_many.run_at, v_now);
    foreach v_id in array v_ids[:act_on_many.at_most] loop
        if act_on_many.action = 'requeue' then
            perform crontick.requeue(v_id, act_on_many.by, act_on_many.reason, null, next_at);
            next_at := next_at + v_spacing;
        elsif act_on_many.action = 'ignore' then
            perform crontick.ignore(v_id, act_on_many.by, act_on_many.reason);
        elsif act_on_many.action = 'cancel' then
            perform crontick.cancel(v_id, act_on_many.by, act_on_many.reason);
        else
            perform crontick.run_now(v_id, act_on_many.by, act_on_many.reason);
        end if;
        done := done + 1;
    end loop;
    return next;
end
$$;
