-- How many rows the planner expects of a user's query, which takes the place of user_query.
explain (format json)
select q.user_key
from (
    select * from user_query
) as q
