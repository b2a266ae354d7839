-- Receivers of webhooks by name, for a tick that delivers to them.
select
    e.name, e.url, e.secret,
    case when e.old_secret_until > crontick.now() then e.old_secret end as old_secret
from crontick.webhook_endpoints as e
where e.name = any(%(names)s::text[])
