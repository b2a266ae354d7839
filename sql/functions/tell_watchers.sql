-- At the commit of this transaction, let those who listen look for what is due. Without a watcher it is one look into an empty
-- table: NOTIFY takes a lock of the whole cluster at commit, and an app that has no watcher must not pay for it.
create function crontick.tell_watchers() returns void
language plpgsql volatile
as $$
begin
    if exists (select from crontick.watchers as w where w.listens and w.seen_at > statement_timestamp() - interval '1 minute') then
        perform pg_notify('crontick', '');
    end if;
end
$$;
