-- Items of one reminder that come up and have no record yet, the soonest first. $1 and $2 are the user's :from and :to;
-- /*query*/ stands for his query. In a read-only transaction, bounded in time and number (P23).
select
    q.item::text as item,
    q.item_at,
    q.payload::text as payload,
    to_jsonb(q) ->> 'group_key' as group_key,
    crontick.now() as now
from (
/*query*/
) as q
where not exists (
    select
    from crontick.reminder_records as r
    where r.reminder = $3 and r.item_digest = sha256(convert_to(q.item::text, 'UTF8')) and r.item_at = q.item_at
)
order by q.item_at
limit $4
