-- Why a job waits in a limit's line, and when it goes on; null without a line.
create function crontick.why_limited(p_line crontick.limit_lines, p_now timestamptz) returns text
language sql stable
as $$
    select format(
        'waits for limit %s (%s)%s: %s: it goes by itself; to let more go, change [limits.%s] in crontick.toml',
        p_line.limit_name, p_line.said, ', key ' || nullif(p_line.key, ''),
        case
            when p_line.look_at is null then 'there is no room now'
            when p_line.look_at = 'infinity' then 'next room when one that runs has ended'
            when p_line.look_at <= p_now then 'there is room, from the next tick on'
            else 'next room at ' || to_char(p_line.look_at, 'YYYY-MM-DD HH24:MI:SS TZ')
        end,
        p_line.limit_name
    )
    where p_line.hold is not null
$$;
