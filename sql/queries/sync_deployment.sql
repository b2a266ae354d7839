-- Make this deployment's kinds known, and put its schedules in force.
select crontick.sync_deployment(
    %(hash)s, %(version)s, %(kinds)s, %(strict)s, %(schedules)s, %(digest)s, %(expected_seconds)s, %(endpoints)s,
    %(limits)s, %(queue_seats)s
) as in_force
