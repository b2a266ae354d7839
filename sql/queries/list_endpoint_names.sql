-- What receivers of webhooks are called: all that a role which ticks may see of them here.
select e.name
from crontick.endpoints as e
order by e.name
limit %(at_most)s
