-- Finished jobs whose time was over more than a day ago, and that retention has not come to.
select
    (
        select coalesce(sum(cardinality(s.job_ids)), 0)
        from crontick.successes as s
        where s.ended_at < crontick.now() - %(kept)s::interval - interval '1 day'
    )
    + (
        select count(*)
        from crontick.jobs as f
        where f.status = 'cancelled' and f.finished_at < crontick.now() - %(kept)s::interval - interval '1 day'
    ) as jobs
