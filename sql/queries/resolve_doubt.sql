-- Decide a doubt; answers the fresh job's id, or null.
select crontick.resolve_doubt(%(kind)s, %(key)s, %(decision)s, %(by)s, %(reason)s) as id
