-- Whether the last error of a job was a payload that did not fit its kind (P14).
select coalesce(
    (
        select a.fingerprint = 'crontick:payload'
        from crontick.attempts as a
        where a.job = %(job)s and a.outcome in ('failed', 'rescued')
        order by a.number desc, a.ended_at desc
        limit 1
    ),
    false
)
