-- What a send in doubt had sent, for whoever may send the same once more (P21), and what was sent, on its attempt too.

alter type crontick.claimed_job add attribute marker_hash text; -- null: repeats no send in doubt; empty: of one nobody knows
alter type crontick.ending add attribute details jsonb;
alter table crontick.attempts add column details jsonb;
