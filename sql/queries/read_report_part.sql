-- The bytes of a file from one place on, to the end of the part that has it or to the last that is wanted.
select substring(p.content from (%(at)s::bigint - p.begins_at + 1)::int for least(%(last)s::bigint - %(at)s::bigint + 1, 1073741823)::int)
from crontick.report_parts as p
where p.run = %(run)s and p.begins_at <= %(at)s
order by p.begins_at desc
limit 1
