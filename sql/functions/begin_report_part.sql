-- The file that a part goes to: made by the first part (afresh as long as it is empty), found by the others. The job of the latest
-- part is the one that the run's status is read from; a requeued one takes over here. No row: the run is not, or no longer, known.
create function crontick.begin_report_part(
    job bigint, run bigint, part int, report text, format text, gzip boolean, digest text
) returns setof crontick.report_files
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_now constant timestamptz := crontick.now();
begin
    if begin_report_part.part = 1 then
        insert into crontick.report_files (run, job, report, format, gzip, digest, started_at, progressed_at)
        select
            begin_report_part.run, begin_report_part.job, begin_report_part.report, begin_report_part.format,
            begin_report_part.gzip, begin_report_part.digest, v_now, v_now
        on conflict do nothing;
        update crontick.report_files as f
        set
            report = begin_report_part.report, format = begin_report_part.format, gzip = begin_report_part.gzip,
            digest = begin_report_part.digest
        where f.run = begin_report_part.run and f.parts = 0 and f.digest <> begin_report_part.digest;
    end if;
    update crontick.report_files as f
    set job = begin_report_part.job
    where f.run = begin_report_part.run and f.job < begin_report_part.job and f.finished_at is null;
    return query select f.* from crontick.report_files as f where f.run = begin_report_part.run;
end
$$;
