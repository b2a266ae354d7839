-- Insert one job in the caller's transaction, or find the one that has its unique key. What enqueue and enqueue_many share.
-- Only inserts: it reads and locks nothing that a tick may wait for (P2). A key that another open transaction is inserting
-- makes this one wait for it; no rule of uniqueness can do otherwise (P26).
create function crontick.insert_job(
    p_kind text, p_payload jsonb, p_run_at timestamptz, p_queue text, p_priority int, p_max_attempts int,
    p_unique_key text, p_unique_for text, p_group_key text, p_on_conflict text, p_expires_at timestamptz,
    out id bigint, out created boolean
)
language plpgsql volatile
as $$
#variable_conflict use_column
declare
    v_now constant timestamptz := crontick.now();
    v_run_at constant timestamptz := coalesce(p_run_at, v_now);
    v_payload constant jsonb := coalesce(p_payload, '{}');
    v_kind crontick.kinds;
    v_digest bytea;
    v_mode text;
    v_free_at timestamptz := 'infinity';
    v_holder bigint;
    v_held_as text;
    v_replaced boolean;
    v_group_digest bytea;
    v_due boolean;
    v_clear boolean;
begin
    if p_kind is null or p_kind !~ '^[a-z0-9][a-z0-9_.-]{0,63}$' then
        raise exception 'kind % is not a name: lower-case letters, digits, "_", "." and "-", 64 at most',
            coalesce(quote_literal(left(p_kind, 80)), 'null')
            using errcode = 'CT001', hint = 'name the kind as its @kind("...") does';
    end if;
    if p_queue is not null and p_queue !~ '^[a-z0-9][a-z0-9_.-]{0,63}$' then
        raise exception 'queue % is not a name: lower-case letters, digits, "_", "." and "-", 64 at most',
            quote_literal(left(p_queue, 80))
            using errcode = 'CT001', hint = 'leave the queue out to use that of the kind';
    end if;
    -- What is sealed takes a third more than what was checked in clear.
    if octet_length(v_payload::text) > (case when v_payload ? '$sealed' then 98304 else 65536 end) then
        raise exception 'the payload of % has % bytes, 65536 are allowed', p_kind, octet_length(v_payload::text)
            using errcode = 'CT002', hint = 'store the data elsewhere and put a reference into the payload';
    end if;
    if v_run_at < '2000-01-01 00:00Z' or v_run_at > v_now + interval '10 years' then
        raise exception 'run_at % is not between 2000 and ten years from now', v_run_at
            using errcode = 'CT003', hint = 'is it a time with a zone, in the unit you meant?';
    end if;
    if p_expires_at <= v_run_at then
        raise exception 'expires_at % is not after run_at %: the job could never run', p_expires_at, v_run_at
            using errcode = 'CT003', hint = 'leave expires_at out, or move it';
    end if;
    if p_priority not between -100 and 100 then
        raise exception 'priority % is not between -100 and 100',
            p_priority
            using errcode = 'CT004', hint = 'higher runs first; 0 is ordinary';
    end if;
    if p_max_attempts not between 1 and 100 then
        raise exception 'max_attempts % is not between 1 and 100',
            p_max_attempts
            using errcode = 'CT004', hint = 'leave it out to use that of the kind';
    end if;
    if octet_length(p_unique_key) > 8192 or octet_length(p_group_key) > 8192 or p_unique_key = '' or p_group_key = '' then
        raise exception 'unique_key and group_key have 1 to 8192 bytes'
            using errcode = 'CT004', hint = 'leave it out for none; use a hash of a long text';
    end if;
    if p_on_conflict is null or p_on_conflict not in ('keep', 'replace') then
        raise exception 'on_conflict % is neither keep nor replace', coalesce(quote_literal(left(p_on_conflict, 80)), 'null')
            using errcode = 'CT004', hint = 'keep returns the existing job, replace also gives it this payload and these times';
    end if;

    select * into v_kind from crontick.kinds as k where k.name = p_kind;
    if v_kind.name is null or v_kind.seen_at < v_now - interval '1 day' then
        if (select i.strict_kinds from crontick.installation as i) then
            raise exception 'no deployment of the last day knows the kind %', p_kind
                using errcode = 'CT005', hint = 'is it spelt as in its @kind("...")? Run `crontick migrate` after adding one';
        end if;
        raise warning 'no deployment of the last day knows the kind %: its job waits for one that does', p_kind
            using hint = 'is it spelt as in its @kind("...")? A new kind is known from `crontick migrate`, or its first tick, on';
    end if;

    v_clear := cardinality(v_kind.secret) > 0 and crontick.has_clear_secret(v_kind.secret, v_payload);
    id := nextval('crontick.job_ids');
    created := true;
    if p_unique_key is not null then
        v_digest := sha256(convert_to(p_kind || chr(10) || p_unique_key, 'UTF8'));
        v_mode := case when p_unique_for in ('active', 'waiting', 'always') then p_unique_for else 'interval' end;
        if v_mode = 'interval' then
            begin
                v_free_at := v_now + p_unique_for::interval;
            exception when data_exception then
                v_free_at := null;
            end;
            if v_free_at is null or v_free_at <= v_now or v_free_at > v_now + interval '10 years' then
                raise exception 'unique_for % is not active, waiting, always or an interval such as ''24 hours''',
                    coalesce(quote_literal(left(p_unique_for, 80)), 'null')
                    using errcode = 'CT004', hint = 'active: until the job ends; waiting: until it starts; always: 400 days';
            end if;
        elsif v_mode = 'always' then
            v_free_at := v_now + interval '400 days';
        end if;
        loop
            insert into crontick.unique_keys (digest, job, free_at, mode, kind, key)
            values (v_digest, id, v_free_at, v_mode, p_kind, p_unique_key)
            on conflict do nothing;
            exit when found;
            update crontick.unique_keys as k
            set job = insert_job.id, free_at = v_free_at, mode = v_mode
            where k.digest = v_digest and k.free_at <= v_now;
            exit when found;
            select k.job, k.mode into v_holder, v_held_as from crontick.unique_keys as k where k.digest = v_digest;
            continue when not found;
            v_replaced := p_on_conflict = 'replace' and crontick.replace_job(v_holder, v_payload, v_run_at, p_expires_at, v_now);
            -- A claim that has started the holder since, and freed its key, makes what was to replace it a job of its own.
            continue when p_on_conflict = 'replace' and not v_replaced and v_held_as = 'waiting'
                and not exists (select from crontick.unique_keys as k where k.digest = v_digest and k.job = v_holder);
            id := v_holder;
            created := false;
            if v_clear and v_replaced then
                insert into crontick.unsealed (kind, job) values (p_kind, v_holder);
            end if;
            return;
        end loop;
    end if;

    if p_group_key is not null then
        v_group_digest := sha256(convert_to(p_group_key, 'UTF8'));
        v_due := v_run_at <= v_now;
    end if;
    insert into crontick.unfinished_jobs (
        id, kind, payload, queue, priority, max_attempts, run_at, due_at, expires_at, created_at, updated_at, unique_key,
        unique_for, group_key, group_digest, in_line, held_by
    )
    values (
        insert_job.id, p_kind, v_payload, coalesce(p_queue, v_kind.queue, 'default'), coalesce(p_priority, v_kind.priority, 0),
        p_max_attempts, v_run_at, case when v_due then 'infinity' else v_run_at end, p_expires_at, v_now, v_now, p_unique_key,
        case when p_unique_key is not null then p_unique_for end, p_group_key, v_group_digest, coalesce(v_due, false),
        case when v_due then 'group' end
    );
    if v_due then
        insert into crontick.group_calls (group_digest) values (v_group_digest);
    end if;
    if v_clear then
        insert into crontick.unsealed (kind, job) values (p_kind, insert_job.id);
    end if;
end
$$;
