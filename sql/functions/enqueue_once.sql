-- -> queued, as enqueue_many, at most once for each key in 24 hours: key and jobs are one transaction, and a repeat, also of a call
-- whose answer was lost, is answered with what the first one was, whatever became of the jobs since. The same key with another body
-- is refused. A call with a key that another one is using waits for it.
create function crontick.enqueue_once(key bytea, body bytea, jobs jsonb) returns jsonb
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_now constant timestamptz := crontick.now();
    v_known crontick.idempotency_keys;
    v_answer jsonb;
begin
    if enqueue_once.key is not null then
        loop
            insert into crontick.idempotency_keys (digest, body_digest, free_at)
            values (enqueue_once.key, enqueue_once.body, v_now + interval '24 hours')
            on conflict do nothing;
            exit when found;
            select * into v_known from crontick.idempotency_keys as k where k.digest = enqueue_once.key for update;
            continue when not found;
            if v_known.free_at <= v_now then
                update crontick.idempotency_keys as k
                set body_digest = enqueue_once.body, free_at = v_now + interval '24 hours'
                where k.digest = enqueue_once.key;
                exit;
            end if;
            if v_known.body_digest <> enqueue_once.body then
                raise exception 'this Idempotency-Key came with another body before'
                    using errcode = 'CT006', hint = 'a key belongs to one request for 24 hours: make a new one for another';
            end if;
            return v_known.answer;
        end loop;
    end if;
    select jsonb_agg(jsonb_build_object('id', m.id, 'created', m.created) order by m.nth) into v_answer
    from crontick.enqueue_many(enqueue_once.jobs) as m;
    v_answer := coalesce(v_answer, '[]');
    update crontick.idempotency_keys as k set answer = v_answer where k.digest = enqueue_once.key;
    return v_answer;
end
$$;
