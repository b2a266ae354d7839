-- Who listens for jobs: `crontick watch`. An enqueue notifies only while one of them was seen in the last minute.

create table crontick.watchers (
    id bigint primary key,
    host text not null,
    process int not null,
    version text not null,
    every interval not null,
    listens boolean not null,
    started_at timestamptz not null,
    seen_at timestamptz not null
) with (fillfactor = 50);
comment on table crontick.watchers is
'One row a running watcher. Times are real ones, whatever the test clock says; one that was killed is forgotten after a day.';
