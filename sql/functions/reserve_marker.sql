-- free -> reserved, for keys that functions name while they run (ctx.once(key)): one statement for all that wait. What is to be sent
-- is noted by its hash, also on what the claim itself reserved, so that a later attempt knows it if this one dies of the send (P21); of a
-- send in doubt the first hash stays. Answers what each marker is now, as a claim would (P20), and doubted as taken does.
create function crontick.reserve_marker(p_wishes json)
returns table (job bigint, key text, state text, holder bigint, seconds float8, doubted text)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_now constant timestamptz := crontick.now();
begin
    insert into crontick.markers (kind, digest, key, state, job, claim, reserved_at)
    select w.kind, sha256(convert_to(w.key, 'UTF8')), w.key, 'reserved', w.job, w.claim, v_now
    from json_to_recordset(p_wishes) as w (job bigint, claim bigint, kind text, key text)
    where exists (
        select from crontick.unfinished_jobs as j where j.id = w.job and j.claim = w.claim and j.status = 'running'
    )
    order by w.kind, sha256(convert_to(w.key, 'UTF8')), w.job
    on conflict do nothing;
    update crontick.markers as m
    set
        state = 'reserved', job = w.job, claim = w.claim,
        details = coalesce(m.details, '{}') || jsonb_build_object('repeats', m.job)
    from json_to_recordset(p_wishes) as w (job bigint, claim bigint, kind text, key text, resend boolean)
    where w.resend and m.kind = w.kind and m.digest = sha256(convert_to(w.key, 'UTF8')) and m.state = 'in_doubt'
        and exists (
            select from crontick.unfinished_jobs as j where j.id = w.job and j.claim = w.claim and j.status = 'running'
        );
    return query
    select
        w.job, w.key,
        case when m.state = 'reserved' and (m.claim <> w.claim or m.job <> w.job) then 'taken' else coalesce(m.state, 'lost') end,
        m.job,
        greatest(1, extract(epoch from coalesce(c.lease_expires_at, v_now) - v_now))::float8,
        case
            when m.state = 'reserved' and m.claim = w.claim and m.job = w.job and m.details ? 'repeats'
                then coalesce(m.content_hash, '')
        end
    from json_to_recordset(p_wishes) as w (job bigint, claim bigint, kind text, key text)
    left join crontick.markers as m on m.kind = w.kind and m.digest = sha256(convert_to(w.key, 'UTF8'))
    left join crontick.claims as c on c.claim = m.claim;
    update crontick.markers as m
    set content_hash = w.content_hash
    from json_to_recordset(p_wishes) as w (job bigint, claim bigint, kind text, key text, content_hash text)
    where w.content_hash is not null and m.kind = w.kind and m.digest = sha256(convert_to(w.key, 'UTF8'))
        and m.state = 'reserved' and m.job = w.job and m.claim = w.claim and m.content_hash is null;
end
$$;
