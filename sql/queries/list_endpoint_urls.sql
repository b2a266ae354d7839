-- Receivers of webhooks with their whole URLs, for those who may set them.
select e.name, e.url, e.updated_at
from crontick.webhook_endpoints as e
order by e.name
limit %(at_most)s
