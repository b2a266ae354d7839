-- What time it is, and whether the setting of this transaction says so.
select crontick.now() as now, current_setting('crontick.now', true) as setting
