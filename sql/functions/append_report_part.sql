-- A part goes to the end of its run's file, in the transaction that completes its job and enqueues the next one. Raises when the
-- file has not exactly the parts before it: one attempt alone can append a part, whatever else may have begun it. Without a next
-- job the file is finished.
create function crontick.append_report_part(
    run bigint, part int, content bytea, row_count bigint, last_key text, rows_expected bigint, next_job bigint
) returns crontick.report_files
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_now constant timestamptz := crontick.now();
    v_file crontick.report_files;
begin
    update crontick.report_files as f
    set
        parts = append_report_part.part,
        row_count = f.row_count + append_report_part.row_count,
        byte_count = f.byte_count + octet_length(append_report_part.content),
        rows_expected = coalesce(append_report_part.rows_expected, f.rows_expected),
        last_key = coalesce(append_report_part.last_key, f.last_key),
        job = coalesce(append_report_part.next_job, f.job),
        progressed_at = v_now,
        finished_at = case when append_report_part.next_job is null then v_now end
    where f.run = append_report_part.run and f.parts = append_report_part.part - 1 and f.finished_at is null
    returning f.* into v_file;
    if not found then
        raise exception 'part % of report run % is not its next one', append_report_part.part, append_report_part.run
            using errcode = 'CT410', hint = 'roll back: another attempt has made it, or the run is gone';
    end if;
    if octet_length(append_report_part.content) > 0 then
        insert into crontick.report_parts (run, begins_at, part, content)
        values (
            append_report_part.run, v_file.byte_count - octet_length(append_report_part.content), append_report_part.part,
            append_report_part.content
        );
    end if;
    return v_file;
end
$$;
