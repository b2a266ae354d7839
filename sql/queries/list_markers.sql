-- The markers that a job's send may have left: by the keys that its payload holds or its lineage gives, and those that it holds now.
with job as materialized (
    select j.id, j.kind, j.payload, coalesce(j.first_job, j.id) as first_job
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
inner join crontick.markers as m on k.kind = m.kind and m.digest = sha256(convert_to(k.key, 'UTF8'))
union
select m.kind, m.key, m.state, m.job, m.reserved_at, m.settled_at, m.provider, m.provider_message_id
from crontick.markers as m
where m.job = %(id)s and m.state in ('reserved', 'in_doubt')
order by reserved_at, key
