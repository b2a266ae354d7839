-- Which fields of a kind are secret; none where no deployment has told of the kind.
select coalesce(max(k.secret), '{}') as secret
from crontick.kinds as k
where k.name = %(kind)s
