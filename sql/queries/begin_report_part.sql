-- The run's file as it stands.
select f.parts, f.last_key, f.digest, f.started_at, crontick.now() as now
from crontick.begin_report_part(
    job => %(job)s, run => %(run)s, part => %(part)s, report => %(report)s, format => %(format)s, gzip => %(gzip)s,
    digest => %(digest)s
) as f
