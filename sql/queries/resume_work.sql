-- What was paused is claimed again.
select crontick.resume(%(what)s, %(name)s, %(by)s, %(reason)s) is not null as resumed
