-- Reports: what one run has written so far, and its parts.

-- A run is known by the job that began it. Its status is not kept here but read from its jobs (the view report_runs), so that
-- whatever ends one of them, a death or a person, need not come by.
create table crontick.report_files (
    run bigint primary key,
    job bigint not null,
    report text not null,
    format text not null,
    gzip boolean not null,
    digest text not null,
    parts int not null default 0,
    row_count bigint not null default 0,
    byte_count bigint not null default 0,
    rows_expected bigint,
    last_key text,
    started_at timestamptz not null,
    progressed_at timestamptz not null,
    finished_at timestamptz,
    constraint format_is_known check (format in ('csv', 'jsonl')),
    constraint counts_are_counts check (parts >= 0 and row_count >= 0 and byte_count >= 0),
    constraint a_finished_one_has_a_part check (finished_at is null or parts > 0)
);
create index report_files_started on crontick.report_files (started_at);

-- The bytes of a file from begins_at on: a range of the file is found by this key.
create table crontick.report_parts (
    run bigint not null,
    begins_at bigint not null,
    part int not null,
    content bytea not null,
    primary key (run, begins_at)
);
