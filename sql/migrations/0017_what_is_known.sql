-- What a person may name, so that a name nobody knows is told: whether a kind has a breaker, and the endpoints of crontick.toml.

-- null: the deployment that was made known last does not say.
alter table crontick.kinds add column breaker boolean;
alter table crontick.deployments add column endpoints text[] not null default '{}';
