-- When the alarm that this tick set goes off.
select crontick.note_wake(%(opening)s, %(wake_at)s) is null
