-- Of the picked jobs that could run, those that may start now. The others are held here, once for each closing of their gate,
-- or left due where another tick is busy with their line. Breakers come first, so that no token is spent on a job that one holds.
create function crontick.admit(
    p_ids bigint[], p_claim bigint, p_now timestamptz, p_lease_end timestamptz, p_limits jsonb, p_breakers text[], p_taken bigint[]
) returns bigint[]
language plpgsql volatile
as $$
declare
    v_ids bigint [] := p_ids;
begin
    if p_breakers is not null and cardinality(v_ids) > 0 then
        v_ids := crontick.hold_broken(v_ids, p_claim, p_now, p_lease_end, p_breakers);
    end if;
    if p_limits is not null and cardinality(v_ids) > 0 then
        v_ids := crontick.admit_limited(v_ids, p_claim, p_now, p_limits, p_taken);
        if p_breakers is not null then
            perform crontick.give_back_probes(p_ids, v_ids, p_claim, p_now);
        end if;
    end if;
    return v_ids;
end
$$;
