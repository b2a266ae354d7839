-- The markers that a job's send may have left: by the keys that its payload holds or its lineage gives, and those that it holds now.
with job as materialized (
    select j.id, j.kind, j.payload, j.claim, j.created_at, coalesce(j.first_job, j.id) as first_job
    from crontick.jobs as j
    where j.id = %(id)s
),

keys as (
    select j.kind, 'job:' || j.first_job as key from job as j
    union all
    select j.kind, field.value
    from job as j
    cross join lateral jsonb_each_text(case when jsonb_typeof(j.payload) = 'object' then j.payload end) as field (name, value)
)

select m.kind, m.key, m.state, m.job, m.reserved_at, m.settled_at, m.provider, m.provider_message_id
from keys as k
-- One by one: a join would read all markers where it takes a payload to have many fields.
cross join
    lateral (
        select one.*
        from crontick.markers as one
        where one.kind = k.kind and one.digest = sha256(convert_to(k.key, 'UTF8'))
        order by one.kind, one.digest
        limit 1
    ) as m
union
select m.kind, m.key, m.state, m.job, m.reserved_at, m.settled_at, m.provider, m.provider_message_id
from job as j
inner join crontick.markers as m on j.claim = m.claim and m.state = 'reserved'
where j.id = m.job
union
select m.kind, m.key, m.state, m.job, m.reserved_at, m.settled_at, m.provider, m.provider_message_id
from job as j
inner join crontick.markers as m on j.kind = m.kind and m.state = 'in_doubt' and j.created_at <= m.reserved_at
where j.id = m.job
order by reserved_at, key
