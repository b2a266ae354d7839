-- The same as requeue, and whether the job had been requeued before: then nothing was done, and the copy's status is that of the
-- first one, null where it is kept no longer. The row is locked first, so that of two at once one is told that the other was first.
create function crontick.requeue_once(
    id bigint, by text, reason text default null, payload jsonb default null, run_at timestamptz default null
) returns table (requeued_as bigint, before boolean, status text)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_first bigint;
begin
    select f.requeued_as into v_first from crontick.finished_jobs as f where f.id = requeue_once.id for update;
    requeue_once.before := v_first is not null;
    requeue_once.requeued_as := crontick.requeue(
        requeue_once.id, requeue_once.by, requeue_once.reason, requeue_once.payload, requeue_once.run_at
    );
    requeue_once.status := (select j.status from crontick.jobs as j where j.id = requeue_once.requeued_as);
    return next;
end
$$;
