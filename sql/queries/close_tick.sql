-- What is left to do, and the end of the tick when nothing is.
select
    c.closed, c.more, c.parked, c.stop_reason, c.cancels, c.next_due_at, c.oldest_due_seconds, c.unknown_kinds, c.active_alerts,
    c.alert_messages, c.asks
from crontick.close_tick(
    %(opening)s, %(claim)s, %(running)s, %(stop_reason)s, %(ask_again)s, %(parked)s, %(known)s, %(kinds)s, %(queues)s, %(jobs)s,
    %(retention_seconds)s, %(stay_seconds)s, %(alerts)s, %(fan_out)s
) as c
