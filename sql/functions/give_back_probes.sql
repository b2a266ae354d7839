-- Of the probes chosen among p_ids just now under this claim, those that do not start after all leave their place to another. Their
-- locks are held by this transaction.
create function crontick.give_back_probes(p_ids bigint[], p_started bigint[], p_claim bigint, p_now timestamptz) returns void
language sql volatile
as $$
    update crontick.breakers as b
    set state = 'open', probe_job = null, probe_claim = null, probe_until = null, look_at = p_now
    where b.state = 'half_open' and b.probe_claim = p_claim and b.probe_job = any(p_ids) and b.probe_job <> all(p_started)
$$;
