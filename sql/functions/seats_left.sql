-- The free seats of each queue that has a number of them (p_seats: {"slow": 2}), less these jobs; with p_claim only those that it took.
create function crontick.seats_left(p_seats jsonb, p_ids bigint[], p_claim bigint) returns jsonb
language sql stable
as $$
    select jsonb_object_agg(
        queue.name,
        queue.seats::int - (
            select count(*)
            from crontick.unfinished_jobs as j
            where j.id = any(p_ids) and j.queue = queue.name and (p_claim is null or (j.claim = p_claim and j.status = 'running'))
        )
    )
    from jsonb_each_text(p_seats) as queue (name, seats)
$$;
