-- The same payloads, sealed.
select crontick.seal_jobs(%(opening)s, %(sealed)s)
