-- A watcher ends: nobody is notified for its sake any more.
create function crontick.forget_watcher(p_watcher bigint) returns void
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
    delete from crontick.watchers as w where w.id = p_watcher
$$;
