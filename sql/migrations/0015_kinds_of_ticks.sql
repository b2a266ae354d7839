-- An attempt that simply succeeds leaves no row of its own: how long attempts took is kept kind by kind in their tick's row.

alter table crontick.ticks add column kinds jsonb not null default '{}';
comment on column crontick.ticks.kinds is
'{kind: {n, failed, dead, ms_sum, ms_max, buckets}} of the attempts that ended in this tick; the edges are in jobs/tally.py.';
