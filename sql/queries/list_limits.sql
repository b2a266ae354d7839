-- Lines in which jobs wait for a limit, the longest first; psycopg cannot read infinity.
select l.name, l.key, l.says, l.waiting, l.oldest_due_at, l.next_room_at
from crontick.limits as l
order by l.waiting desc, l.name, l.key
limit %(at_most)s
