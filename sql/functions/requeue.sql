-- A dead job gets a fresh copy, with its payload or an edited one; the dead one stays, resolved. A second requeue returns the
-- first copy's id. Of a job dead in doubt it raises: that doubt is decided by resolve_doubt (P22).
create function crontick.requeue(
    id bigint, by text, reason text default null, payload jsonb default null, run_at timestamptz default null
) returns bigint
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_dead crontick.finished_jobs;
    v_marker crontick.markers;
begin
    perform crontick.check_actor(requeue.by, requeue.reason);
    select * into v_dead from crontick.finished_jobs as f where f.id = requeue.id for update;
    if not found then
        if exists (select from crontick.unfinished_jobs as j where j.id = requeue.id) then
            raise exception 'job % is not dead yet',
                requeue.id
                using errcode = 'CT409', hint = format('`crontick run-now %s` makes it due at once', requeue.id);
        end if;
        perform crontick.missing_job(requeue.id);
    end if;
    if v_dead.requeued_as is not null then
        return v_dead.requeued_as;
    end if;
    if v_dead.status <> 'dead' then
        raise exception 'job % is %, only dead jobs are requeued', requeue.id, v_dead.status
            using errcode = 'CT409', hint = 'enqueue a new job instead';
    end if;
    select * into v_marker from crontick.markers as m where m.job = requeue.id and m.state = 'in_doubt' limit 1;
    if found then
        raise exception 'job % is dead in doubt: nobody knows whether "%" was sent', requeue.id, left(v_marker.key, 200)
           
                using errcode = 'CT409', hint = format(
                    'decide it: select crontick.resolve_doubt(%L, %L, ''sent'' or ''not_sent'', ...)', v_marker.kind, v_marker.key
                );
    end if;
    return crontick.copy_job(v_dead, requeue.by, requeue.reason, requeue.payload, requeue.run_at, 'requeued');
end
$$;
