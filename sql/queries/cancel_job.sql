-- Cancel, or ask to stop; answers the status that the job has now.
select crontick.cancel(%(id)s, %(by)s, %(reason)s) as status
