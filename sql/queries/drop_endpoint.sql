-- Forget a receiver of webhooks.
select crontick.drop_endpoint(%(name)s, %(by)s, %(reason)s) is null as dropped
