-- Jobs that hold a secret field in clear.
select u.id, u.kind, u.payload from crontick.list_unsealed(%(kinds)s, %(at_most)s) as u
