-- Make this deployment's kinds known.
select crontick.sync_deployment(%(hash)s, %(version)s, %(kinds)s, %(strict)s) is null
