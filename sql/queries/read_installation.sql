-- Whose database this is, and which code it serves.
select i.environment, i.version, i.oldest_code from crontick.installation as i
