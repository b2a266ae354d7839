-- When the alarm goes off that a tick set for whatever is due next.

alter table crontick.ticks add column wake_at timestamptz;
