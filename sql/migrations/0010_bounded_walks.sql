-- The walk over the unfinished jobs of a kind whose fields were just marked secret, and endpoints told by their hosts.

-- Jobs up to after_job have been looked at; the row goes when the walk is over.
create table crontick.unsealed_walks (
    kind text primary key,
    after_job bigint not null
);

-- A whole URL may be all that it takes to write to somebody: the view shows hosts.
drop view if exists crontick.endpoints;
