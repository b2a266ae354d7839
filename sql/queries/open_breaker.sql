-- Nothing is sent to the target until somebody closes its breaker.
select crontick.open_breaker(%(target)s, %(by)s, %(reason)s) is not null as done
