-- Items of one reminder that come up and have no record yet, the soonest first. The user's query takes the place of
-- user_query, with :from and :to made parameters of the clock. Read-only, bounded in time and number (P23).
-- A subquery that is no `not exists` stays one, and looks each item up by its record's key: as a join by item_at alone it
-- compared every item of one moment with every record of that moment.
select
    q.item::text as item,
    q.item_at,
    q.payload::text as payload,
    to_jsonb(q) ->> 'group_key' as group_key,
    crontick.now() as now
from (
    select * from user_query
) as q
where
    $1::float8 is not null and (
        select true
        from crontick.reminder_records as r
        where r.reminder = $2 and r.item_digest = sha256(convert_to(q.item::text, 'UTF8')) and r.item_at = q.item_at
    ) is null
order by q.item_at
limit $3
