-- free -> reserved, for the jobs just claimed. A marker that exists stays as it is, but one in doubt is reserved again whose
-- kind says "resend", or whose provider still knows its key: that window is counted from the first try (P21).
-- Never "on conflict do update": it would lock rows that it leaves alone.
create function crontick.reserve_markers(p_ids bigint[], p_claim bigint, p_now timestamptz, p_markers jsonb) returns void
language plpgsql volatile
as $$
begin
    insert into crontick.markers (kind, digest, key, state, job, claim, reserved_at)
    select distinct on (j.kind, sha256(convert_to(named.key, 'UTF8')))
        j.kind, sha256(convert_to(named.key, 'UTF8')), named.key, 'reserved', j.id, p_claim, p_now
    from crontick.unfinished_jobs as j
    cross join lateral (
        select crontick.marker_key(p_markers, j.kind, j.payload, j.first_job, j.id) as key
    ) as named
    where j.id = any(p_ids) and j.claim = p_claim and j.status = 'running' and named.key is not null
    order by j.kind, sha256(convert_to(named.key, 'UTF8')), j.id
    on conflict do nothing;

    update crontick.markers as m
    set
        state = 'reserved', job = j.id, claim = p_claim,
        details = coalesce(m.details, '{}') || jsonb_build_object('repeats', m.job)
    from crontick.unfinished_jobs as j
    where j.id = any(p_ids) and j.claim = p_claim and j.status = 'running'
        and (
            p_markers -> j.kind ->> 'in_doubt' = 'resend'
            or m.reserved_at > p_now - make_interval(secs => (p_markers -> j.kind ->> 'window_seconds')::float8)
        )
        and m.kind = j.kind
        and m.digest = sha256(convert_to(crontick.marker_key(p_markers, j.kind, j.payload, j.first_job, j.id), 'UTF8'))
        and m.state = 'in_doubt';
end
$$;
