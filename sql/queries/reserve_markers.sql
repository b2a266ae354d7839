-- free -> reserved, for keys that functions name while they run.
select r.job, r.key, r.state, r.holder, r.seconds, r.doubted
from crontick.reserve_marker(%(wishes)s) as r
