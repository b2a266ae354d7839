-- Write a receiver of webhooks; the secret that was made for it, or null.
select crontick.set_endpoint(%(name)s, %(url)s, %(secret)s, %(by)s, %(reason)s) as secret
