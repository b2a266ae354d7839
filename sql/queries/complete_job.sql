-- running -> succeeded, in the function's own transaction; raises when the claim is not current.
select crontick.complete(%(id)s::bigint, %(claim)s::bigint, %(result)s::text::jsonb)
