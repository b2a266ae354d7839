-- Of some items of one reminder, those that still come up, and when: asked just before a late send (P23).
select q.item::text as item, q.item_at
from (
    select * from user_query
) as q
where $1::float8 is not null and q.item::text = any($2)
