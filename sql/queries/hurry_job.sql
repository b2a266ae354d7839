-- Make a failed or future job due at once; answers its status.
select crontick.run_now(%(id)s, %(by)s, %(reason)s) as status
