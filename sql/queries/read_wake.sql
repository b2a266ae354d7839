-- Whether a tick before this one has set the alarm.
select crontick.wake_is_set(%(wake_at)s)
