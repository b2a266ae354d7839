-- finish, for what a tick ends by itself: a row that the finished jobs refuse (its id is there already, after a restore; a
-- constraint or a trigger of somebody's) must not fail every opening for ever. It is held as a suspect that no claim takes,
-- until somebody mends what refuses it and cancels it. Each is tried alone only when all together were refused.
create function crontick.finish_each(p_ids bigint[], p_status text, p_error text, p_now timestamptz) returns void
language plpgsql volatile
as $$
declare
    v_id bigint;
    v_state text;
begin
    begin
        perform crontick.finish(p_ids, p_status, p_error, p_now);
        return;
    exception when integrity_constraint_violation or data_exception or raise_exception then
        null;
    end;
    foreach v_id in array p_ids loop
        begin
            perform crontick.finish(array[v_id], p_status, p_error, p_now);
        exception when integrity_constraint_violation or data_exception or raise_exception then
            get stacked diagnostics v_state = returned_sqlstate;
            update crontick.unfinished_jobs as j
            set
                held_by = 'suspect', due_at = 'infinity', lone_rescues = greatest(j.lone_rescues, 2), updated_at = p_now,
                last_error = format('it is %s (%s), and the database refuses that (SQLSTATE %s)', p_status, p_error, v_state),
                last_error_at = p_now
            where j.id = v_id;
        end;
    end loop;
end
$$;
