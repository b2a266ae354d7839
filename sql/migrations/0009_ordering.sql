-- For how long a unique key was taken, who lets a group pass, how retention finds what is old and adapts, vacuum for a queue.

-- A requeued copy takes its key for as long as the dead job did.
alter table crontick.unfinished_jobs add column unique_for text;
alter table crontick.finished_jobs add column unique_for text;

-- A failed attempt of a kind that lets its group pass says so.
alter type crontick.ending add attribute lets_pass boolean;

-- Retention walks over nothing that it keeps: a summary of pages would tell it of ever more of them, for a page that was emptied
-- and filled again is known by its oldest row for good.
drop index crontick.finished_jobs_ended;
create index finished_jobs_ended on crontick.finished_jobs (finished_at) where status <> 'dead';
create index finished_jobs_resolved on crontick.finished_jobs (finished_at) where status = 'dead' and resolution is not null;
create index attempts_ended on crontick.attempts (ended_at);
create index markers_sent on crontick.markers (settled_at) where state = 'sent';
create index unique_keys_end on crontick.unique_keys (free_at) where free_at < 'infinity';

-- behind_since: since when each prune has left something over; null where nothing was.
alter table crontick.installation
add column prune_batch int not null default 500,
add column behind_since timestamptz,
add column prune_error text,
add constraint prune_batch_is_bounded check (prune_batch between 10 and 5000);

-- What comes and goes with each job is vacuumed early and at full speed. No vacuum gives the end of such a table back to the disk:
-- it would lock out every tick meanwhile, and the next jobs need the room.
alter table crontick.unfinished_jobs set (
    vacuum_truncate = off,
    toast.vacuum_truncate = off,
    toast.autovacuum_vacuum_scale_factor = 0.05,
    toast.autovacuum_vacuum_threshold = 1000,
    toast.autovacuum_vacuum_cost_delay = 0
);
alter table crontick.claims set (vacuum_truncate = off, autovacuum_vacuum_cost_delay = 0);
alter table crontick.group_calls set (vacuum_truncate = off, autovacuum_vacuum_cost_delay = 0);
alter table crontick.unsealed set (vacuum_truncate = off, autovacuum_vacuum_cost_delay = 0);
alter table crontick.unique_keys set (
    vacuum_truncate = off,
    autovacuum_vacuum_scale_factor = 0.05,
    autovacuum_vacuum_threshold = 500,
    autovacuum_vacuum_cost_delay = 0
);
-- What retention deletes a little at a time from the begin is vacuumed before its index is long dead.
alter table crontick.finished_jobs set (vacuum_truncate = off, autovacuum_vacuum_scale_factor = 0.02);
alter table crontick.attempts set (vacuum_truncate = off, autovacuum_vacuum_scale_factor = 0.02);
alter table crontick.markers set (autovacuum_vacuum_scale_factor = 0.05);
