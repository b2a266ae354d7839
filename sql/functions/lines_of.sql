-- The lines that a job stands in: one for each limit that covers it, by the value of that limit's key. Jobs without the key's field
-- share a line, so that leaving it out is no way round the limit.
create function crontick.lines_of(p_limits jsonb, p_kind text, p_queue text, p_payload jsonb)
returns table (hold text, name text, key text)
language sql stable
as $$
    select 'limit:' || l.name || ':' || left(encode(sha256(convert_to(own.key, 'UTF8')), 'hex'), 32), l.name, own.key
    from jsonb_to_recordset(p_limits) as l (name text, kinds text[], queue text, endpoint text, path text[])
    cross join lateral (select coalesce(p_payload #>> l.path, '')) as own (key)
    where (l.kinds is null or p_kind = any(l.kinds)) and (l.queue is null or p_queue = l.queue)
        and (l.endpoint is null or crontick.endpoint_of(p_kind, p_payload) = l.endpoint)
$$;
