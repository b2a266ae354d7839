-- What was held for want of a key that this deployment has.
select crontick.free_sealed(%(keys)s, %(known)s)
