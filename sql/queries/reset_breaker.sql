-- The target is called again, and what was known of it is forgotten.
select crontick.reset_breaker(%(target)s, %(by)s, %(reason)s) is not null as done
