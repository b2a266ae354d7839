-- What became of the messages that a tick sent.
select crontick.told_alerts(%(opening)s, %(told)s) is null
