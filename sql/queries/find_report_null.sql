-- A row without a key, which would be in no part. The user's query takes the place of user_query, its key that of user_key.
select true as found
from (
    select * from user_query
) as q
where q.user_key is null
order by q.user_key
limit 1
