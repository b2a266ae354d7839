-- One job for each item that came due, once: the record and the job in the same statement's transaction (P23). A tick that the
-- opening closed is open again if there is room for it. skipped: items met too late, recorded so that they count once.
create function crontick.enqueue_reminders(p_opening bigint, p_items json)
returns table (reminder text, fired int, skipped int, refused int)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_now constant timestamptz := crontick.now();
    v_item record;
    v_fired jsonb := '{}';
    v_digest bytea;
    v_job bigint;
    v_what text;
begin
    for v_item in
        select *
        from json_to_recordset(p_items) as i (
            reminder text, item text, item_at timestamptz, kind text, payload jsonb, queue text, priority int, group_key text,
            expires_at timestamptz, late boolean
        )
        order by i.reminder, i.item_at, i.item
    loop
        v_digest := sha256(convert_to(v_item.item, 'UTF8'));
        insert into crontick.reminder_records (reminder, item_digest, item_at, item, recorded_at)
        values (v_item.reminder, v_digest, v_item.item_at, v_item.item, v_now)
        on conflict do nothing;
        continue when not found;
        v_what := 'skipped';
        if not v_item.late then
            v_what := 'fired';
            begin
                v_job := (
                    crontick.insert_job(
                        v_item.kind, v_item.payload, null, v_item.queue, v_item.priority, null,
                        concat_ws(
                            chr(10), 'reminder', v_item.reminder, v_item.item,
                            to_char(v_item.item_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.USZ')
                        ),
                        'always', v_item.group_key, 'keep', v_item.expires_at
                    )
                ).id;
            exception when others then
                v_what := 'refused';
                v_job := null;
            end;
            update crontick.reminder_records as r
            set job = v_job
            where r.reminder = v_item.reminder and r.item_digest = v_digest and r.item_at = v_item.item_at;
        end if;
        v_fired := jsonb_set(
            v_fired, array[v_item.reminder],
            coalesce(v_fired -> v_item.reminder, '{"fired": 0, "skipped": 0, "refused": 0}')
                || jsonb_build_object(v_what, coalesce((v_fired -> v_item.reminder ->> v_what)::int, 0) + 1)
        );
    end loop;

    perform crontick.reopen_tick(p_opening, v_now);
    update crontick.ticks as t
    set reminders = t.reminders + (select coalesce(sum((f.value ->> 'fired')::int), 0) from jsonb_each(v_fired) as f)
    where t.opening = p_opening;
    return query
    select
        f.key,
        coalesce((f.value ->> 'fired')::int, 0),
        coalesce((f.value ->> 'skipped')::int, 0),
        coalesce((f.value ->> 'refused')::int, 0)
    from jsonb_each(v_fired) as f;
end
$$;
