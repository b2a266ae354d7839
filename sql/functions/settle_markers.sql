-- reserved -> sent, free or in doubt, as the attempts say. That something was sent is a fact, and facts are not fenced (P20):
-- a holder that lost its lease still turns its own reservation, or the doubt it left, into sent; the job that died
-- of that doubt is then resolved as sent. What repeated a send in doubt, and is free, leaves that doubt as it was. A doubt keeps the
-- hash of what was sent first: the idempotency key belongs to that.
create function crontick.settle_markers(p_endings crontick.ending[], p_now timestamptz) returns void
language plpgsql volatile
as $$
declare
    v_mark record;
    v_repeated bigint;
begin
    for v_mark in
        select
            e.id, e.claim, mark.kind, mark.key, mark.state, mark.provider, mark.message_id, mark.content_hash, mark.details,
            sha256(convert_to(mark.key, 'UTF8')) as digest
        from unnest(p_endings) as e
        cross join lateral jsonb_to_recordset(e.marks) as mark (
            kind text, key text, state text, provider text, message_id text, content_hash text, details jsonb
        )
        where e.marks is not null
        order by mark.kind, sha256(convert_to(mark.key, 'UTF8'))
    loop
        if v_mark.state = 'sent' then
            update crontick.markers as m
            set
                state = 'sent', settled_at = p_now, provider = coalesce(v_mark.provider, m.provider),
                provider_message_id = coalesce(v_mark.message_id, m.provider_message_id),
                content_hash = coalesce(v_mark.content_hash, m.content_hash),
                details = nullif(coalesce(m.details, '{}') || coalesce(v_mark.details, '{}'), '{}')
            where m.kind = v_mark.kind and m.digest = v_mark.digest and m.job = v_mark.id and m.claim = v_mark.claim
                and m.state in ('reserved', 'in_doubt')
            returning (m.details ->> 'repeats')::bigint into v_repeated;
            if found then
                update crontick.finished_jobs as f
                set resolution = 'sent', resolved_at = p_now, resolved_by = 'crontick', resolved_reason = 'it was sent after all'
                where f.id in (v_mark.id, v_repeated) and f.status = 'dead' and f.resolution is null;
            end if;
        elsif v_mark.state = 'in_doubt' then
            update crontick.markers as m
            set
                state = 'in_doubt', settled_at = p_now, provider = coalesce(v_mark.provider, m.provider),
                provider_message_id = coalesce(v_mark.message_id, m.provider_message_id),
                content_hash = coalesce(m.content_hash, v_mark.content_hash),
                details = nullif(coalesce(m.details, '{}') || coalesce(v_mark.details, '{}'), '{}')
            where m.kind = v_mark.kind and m.digest = v_mark.digest and m.job = v_mark.id and m.claim = v_mark.claim
                and m.state = 'reserved';
        else
            update crontick.markers as m
            set state = 'in_doubt', job = (m.details ->> 'repeats')::bigint
            where m.kind = v_mark.kind and m.digest = v_mark.digest and m.job = v_mark.id and m.claim = v_mark.claim
                and m.state = 'reserved' and m.details ? 'repeats';
            delete from crontick.markers as m
            where m.kind = v_mark.kind and m.digest = v_mark.digest and m.job = v_mark.id and m.claim = v_mark.claim
                and m.state = 'reserved';
        end if;
    end loop;
end
$$;
