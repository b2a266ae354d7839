-- A shop at scale, statement by statement.
insert into crontick.finished_jobs (
    id, run_at, created_at, started_at, finished_at, priority, attempt, kind, queue, status, payload, last_error, last_status_code,
    resolution, resolved_by, resolved_at
)
select n, at.at, at.at, at.at, at.at, 0, 1, (array['send_receipt', 'deliver_webhook', 'resize_image'])[1 + n %% 3], 'default', how.status,
    jsonb_build_object('order_id', n), case when how.status = 'dead' then 'HTTPStatusError: 503 from crm' || n %% 7 || '.example' end,
    case when how.status = 'dead' then 503 end, case when n %% 500 = 0 then 'ignored' end,
    case when n %% 500 = 0 then 'ann' end, case when n %% 500 = 0 then at.at end
from generate_series(1, %(finished)s) as n
cross join lateral (select now() - (%(finished)s - n) * interval '120 milliseconds' as at) as at
cross join lateral (
    select case when n %% 250 = 0 then 'dead' when n %% 250 = 1 then 'cancelled' else 'succeeded' end as status
) as how;

insert into crontick.unfinished_jobs (
    id, kind, queue, priority, attempt, run_at, due_at, created_at, updated_at, payload, status, last_error, last_error_at, held_by,
    group_key, group_digest, in_line
)
select
    %(finished)s + n, (array['send_receipt', 'deliver_webhook', 'resize_image'])[1 + n %% 3], case when n %% 10 = 4 then 'images' else 'default' end,
    n %% 2 * 10, 1, as_of.run_at, case when as_of.hold is null then as_of.run_at else 'infinity' end, now(), now(),
    jsonb_build_object('order_id', n, 'note', repeat('x', 100)), case when n %% 10 = 5 then 'failed' else 'queued' end,
    case when n %% 10 = 5 then 'ReadTimeout: crm.example' end, case when n %% 10 = 5 then now() end, as_of.hold,
    case when n %% 10 = 9 or n <= 100 then 'invoice:' || n / 10 %% 100 end,
    case when n %% 10 = 9 or n <= 100 then sha256(('invoice:' || n / 10 %% 100)::bytea) end, n %% 10 = 9 and n <= 1000
from generate_series(1, %(unfinished)s) as n
cross join lateral (
    select
        case when n %% 10 < 5 then now() - interval '1 hour' + n * interval '1 millisecond' else now() + n * interval '1 second' end as run_at,
        case
            when n %% 10 = 9 and n > 1000 then 'group'
            when n %% 10 = 8 then 'limit:tenants:' || md5((n %% 500)::text)
            when n %% 10 = 7 and n %% 4 = 1 then 'endpoint:e7'
            when n %% 10 = 7 then crontick.breaker_hold('endpoint:e' || n %% 5)
            when n %% 100 = 6 then 'kind'
        end as hold
) as as_of;

select setval('crontick.job_ids', %(finished)s + %(unfinished)s);

insert into crontick.attempts
    (job, claim, tick, started_at, ended_at, number, retryable, kind, outcome, fingerprint, error, status_code)
select f.id, 1, 1, f.finished_at, f.finished_at, n, n = 1, f.kind, case n when 1 then 'failed' else 'dead' end,
    md5(f.last_error), f.last_error, 503
from crontick.finished_jobs as f
cross join generate_series(1, 2) as n
where f.status = 'dead';

insert into crontick.ticks
    (opening, started_at, deadline, lease_expires_at, ended_at, trigger, stop_reason, claimed, succeeded, failed, dead, kinds)
select -n, now() - n * interval '1 minute', now(), now(), now() - n * interval '1 minute' + interval '1 s', 'github-actions',
    'empty', 21, 17, 3, 1, %(kinds)s::jsonb
from generate_series(1, %(ticks)s) as n;

insert into crontick.successes (ended_at, job_ids)
select max(f.finished_at), array_agg(f.id) from crontick.finished_jobs as f where f.status = 'succeeded' group by f.id / 20;

insert into crontick.markers (kind, digest, key, state, job, claim, reserved_at, settled_at)
select 'send_receipt', sha256(n::text::bytea), n::text, case n %% 200 when 0 then 'in_doubt' else 'sent' end, -n, -n, now(), now()
from generate_series(1, %(others)s) as n;

insert into crontick.reminder_records (reminder, item_digest, item_at, item, recorded_at, job)
select 'booking_24h', sha256(n::text::bytea), now() - n * interval '1 minute', n::text, now() - n * interval '1 minute', -n
from generate_series(1, %(others)s) as n;

insert into crontick.audit_log (at, by, session_role, action, target, job)
select now() - n * interval '1 minute', 'ann', 'ann', 'cancel', 'job ' || n, n from generate_series(1, %(others)s) as n;

insert into crontick.report_files
    (run, job, report, format, gzip, digest, parts, started_at, progressed_at, finished_at)
select -n, -n, 'activity', 'csv', false, '', 1, now() - n * interval '1 hour', now(), now() from generate_series(1, 1000) as n;

insert into crontick.limit_lines
select 'limit:tenants:' || md5(n::text), 'tenants', n::text, '90 a minute', now(), 'infinity' from generate_series(0, 499) as n;

insert into crontick.webhook_endpoints
select 'e' || n, 'https://crm' || n || '.example/in', 'whsec_', null, null, now(), now() from generate_series(1, 100) as n;

insert into crontick.breakers (hold, target, kind, state, retry_at, opened_at, changed_at, by)
select crontick.breaker_hold('endpoint:e' || n), 'endpoint:e' || n, 'deliver_webhook',
    case when n < 5 then 'open' else 'closed' end, case when n < 5 then now() + interval '1 hour' end,
    case when n < 5 then now() - interval '1 hour' end, now(), 'crontick'
from generate_series(0, 49) as n;

insert into crontick.declared_schedules (
    name, cron, tz, kind, payload, catch_up, at_most, late_seconds, overlap, spread_seconds, starts_at, next_at, look_at,
    deployment, synced_at
)
select 's' || n, '30 2 * * *', 'Europe/Berlin', 'send_receipt', '{}', 'latest', 1, 0, 'skip', 0, now(),
    now() + interval '2 days', now() + interval '1 day', '', now()
from generate_series(1, 20) as n;

insert into crontick.alerts (name, subject, since, started_at, ended_at, counted, what, mend)
select 'breaker_open', n::text, now(), now(), case when n > 10 then now() end, 1, 'it keeps failing', 'crontick breakers'
from generate_series(1, 500) as n;

insert into crontick.kinds (name, queue, priority, max_attempts, seen_at)
select name, 'default', 0, 5, now() from unnest(array['send_receipt', 'deliver_webhook', 'resize_image']) as name;

select crontick.pause('endpoint', 'e7', 'ann', 'they are moving');
