-- Tell nobody of these alerts for so long.
select crontick.silence_alert(%(name)s, %(seconds)s, %(by)s, %(reason)s) as until
