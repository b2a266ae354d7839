-- Receivers of webhooks by name, without their secrets; paused or disabled ones with since when, by whom and why. Of a URL it shows the
-- host alone, for a whole one may be all that it takes to write to somebody.
create or replace view crontick.endpoints as
select
    e.name, substring(e.url from '^https?://(?:[^/?#]*@)?([^/?#@]+)') as host, strpos(e.secret, ':') > 0 as sealed, e.old_secret_until,
    e.created_at, e.updated_at, p.paused_at, p.by as paused_by, p.reason as paused_because, p.status_code
from crontick.webhook_endpoints as e
left join crontick.pauses as p on e.name = p.name and p.what = 'endpoint';
