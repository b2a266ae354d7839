-- The target is called again, its held jobs first.
select crontick.close_breaker(%(target)s, %(by)s, %(reason)s) is not null as done
