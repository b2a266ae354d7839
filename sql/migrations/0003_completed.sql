-- Which jobs that `complete` ended a tick has counted, so that a repeated settle counts none of them twice.

alter table crontick.ticks add column completed bigint[] not null default '{}';
