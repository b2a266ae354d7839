-- The jobs of slots that came, once.
select f.schedule, f.fired, f.refused, f.skips_in_a_row, f.waits_for, f.error
from crontick.fire_schedules(%(opening)s, %(fires)s) as f
