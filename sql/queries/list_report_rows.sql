-- The rows of one part and one row more, which tells whether another part follows. The user's query takes the place of
-- user_query, its key that of user_key, and p.* (for JSON Lines row_to_json(p)) that of user_columns. The last two columns: the
-- row's key, and whether the row before has the same. The key's bound is compared before it is looked at: from that its type is
-- known.
select
    p.user_columns,
    p.user_key::text,
    coalesce(p.user_key = lag(p.user_key) over (order by p.user_key), false)
from (
    select q.*
    from (
        select * from user_query
    ) as q
    where q.user_key > $1 or ($1 is null and q.user_key is not null)
    order by q.user_key
    limit $2
) as p
order by p.user_key
