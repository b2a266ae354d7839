-- The ticks that a tick asks its platform for are counted in its own row, written before any is asked for: one that dies in between
-- has asked for fewer than are counted, never for more.
alter table crontick.ticks add column asked int not null default 0;
alter table crontick.ticks add column asked_at timestamptz;
alter table crontick.ticks add column asked_claim bigint;
create index ticks_asked on crontick.ticks (asked_at) where asked_at is not null;
