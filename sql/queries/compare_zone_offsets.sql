-- What the server's own zone data say: the seconds that each zone is ahead of UTC at each moment; null for a zone it does not know.
select
    wanted.name, moment.at,
    case
        when known.name is not null
            then extract(epoch from (moment.at at time zone wanted.name) - (moment.at at time zone 'UTC'))::int
    end as offset_seconds
from unnest(%(zones)s::text[]) as wanted (name)
left join pg_catalog.pg_timezone_names as known on wanted.name = known.name
cross join unnest(%(moments)s::timestamptz[]) as moment (at)
order by wanted.name, moment.at
