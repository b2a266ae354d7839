-- Finished jobs whose time was over more than a day ago, and that retention has not come to.
select count(*) as jobs
from crontick.jobs as f
where f.status <> 'dead' and f.finished_at < crontick.now() - %(kept)s::interval - interval '1 day'
