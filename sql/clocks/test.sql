-- The clock that tests, demo and dev can move: the setting crontick.now if there is one, else the database's time and an offset.
create or replace function crontick.now() returns timestamptz
language plpgsql stable parallel safe
as $$
begin
    if current_setting('crontick.now', true) <> '' then
        return current_setting('crontick.now', true)::timestamptz;
    end if;
    return statement_timestamp() + coalesce((select c.ahead from crontick.test_clock as c), interval '0');
end
$$;
