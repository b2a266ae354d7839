-- One page of the walk that seals the secrets of endpoints under the first key.
select l.name, l.secret, l.old_secret
from crontick.list_endpoint_secrets(%(after)s, %(at_most)s) as l
