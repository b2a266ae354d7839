-- One page of the walk that seals everything under the first key.
select l.last, l.id, l.kind, l.payload, l.secret, l.running
from crontick.list_sealed(%(finished)s, %(after)s, %(at_most)s) as l
