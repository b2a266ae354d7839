-- The jobs that run under a claim, as the tick sees them: after taking them, and again when an answer was lost (P1).
create function crontick.taken(p_ids bigint[], p_claim bigint, p_now timestamptz, p_markers jsonb)
returns setof crontick.claimed_job
language sql stable
as $$
    select
        j.id, j.kind, j.payload::text, j.attempt, j.max_attempts, j.handed_back::int, j.held_by is not null,
        j.queue, j.priority, j.run_at, j.created_at, j.group_key, j.unique_key, j.first_job,
        named.key,
        case when m.state = 'reserved' and (m.claim <> p_claim or m.job <> j.id) then 'taken' else m.state end,
        m.job,
        case
            when m.state = 'reserved' and (m.claim <> p_claim or m.job <> j.id)
                then greatest(1, extract(epoch from coalesce(c.lease_expires_at, p_now) - p_now))::float8
        end,
        case when m.state = 'reserved' and m.details ? 'repeats' then coalesce(m.content_hash, '') end
    from crontick.unfinished_jobs as j
    cross join lateral (
        select crontick.marker_key(p_markers, j.kind, j.payload, j.first_job, j.id) as key
    ) as named
    left join crontick.markers as m on m.kind = j.kind and m.digest = sha256(convert_to(named.key, 'UTF8'))
    left join crontick.claims as c on c.claim = m.claim
    where j.id = any(p_ids) and j.claim = p_claim and j.status = 'running'
    order by j.id
$$;
