-- A watcher ends.
select crontick.forget_watcher(%(watcher)s::bigint)
