-- Resolve a dead job by leaving it.
select crontick.ignore(%(id)s, %(by)s, %(reason)s) is not null as ignored
