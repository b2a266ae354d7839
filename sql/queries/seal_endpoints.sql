-- Replace secrets of endpoints that lie in clear by the same ones sealed.
select crontick.seal_endpoints(%(sealed)s::json)
