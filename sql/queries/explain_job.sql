-- Why a job is where it is, and whether there is such a job.
select
    crontick.why(%(id)s) as why,
    exists(
        select
        from crontick.jobs as j
        where j.id = %(id)s
    ) as known
