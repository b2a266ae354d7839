-- The same payloads, sealed.
select crontick.seal_jobs(%(opening)s::bigint, %(sealed)s::json)
