-- Nothing of it is claimed from the next exchange on.
select crontick.pause(%(what)s, %(name)s, %(by)s, %(reason)s) is not null as paused
