-- What a deployment bounds, so that a job that waits for it is told by what; and the age of the audit's lines, by which they go.

-- As crontick.claim is given them; null: the deployment does not say, or bounds nothing.
alter table crontick.deployments add column limits jsonb;
alter table crontick.deployments add column queue_seats jsonb;
create index audit_log_age on crontick.audit_log (at);
