-- A length of time as people say it: 15 minutes, an hour, 36 hours.
create function crontick.told_interval(p_length interval) returns text
language sql immutable
as $$
    select
        case
            when p_length = interval '1 minute' then 'minute'
            when p_length = interval '1 hour' then 'hour'
            when p_length = interval '1 day' then 'day'
            when extract(epoch from p_length)::bigint % 3600 = 0 then (extract(epoch from p_length)::bigint / 3600) || ' hours'
            when extract(epoch from p_length)::bigint % 60 = 0 then (extract(epoch from p_length)::bigint / 60) || ' minutes'
            else extract(epoch from p_length)::bigint || ' seconds'
        end
$$;
