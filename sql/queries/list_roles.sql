-- The roles that crontick grants rights to, and whether each is there and may execute the function it cannot do without.
select
    wanted.name,
    to_regrole(wanted.name) is not null as is_there,
    coalesce(
        (
            select bool_and(has_function_privilege(wanted.name, p.oid, 'execute'))
            from pg_catalog.pg_proc as p
            where p.pronamespace = 'crontick'::regnamespace and p.proname = wanted.needs and to_regrole(wanted.name) is not null
        ),
        true
    ) as may_work
from unnest(%(names)s::text[], %(needs)s::text[]) as wanted (name, needs)
