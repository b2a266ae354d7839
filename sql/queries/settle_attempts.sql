-- running -> how each attempt ended.
select s.lost, s.held, s.already, s.cancelled, s.completed, s.refused
from crontick.settle(%(opening)s, %(ids)s, %(claims)s, %(endings)s, %(progress)s, %(limits)s, %(kinds)s) as s
