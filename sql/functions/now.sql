-- The only clock. A test clock replaces this function (see clocks/test.sql); stable, because a volatile clock loses the index.
create or replace function crontick.now() returns timestamptz
language sql stable parallel safe
as $$
    select statement_timestamp()
$$;
