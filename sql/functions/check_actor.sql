-- Whoever acts says who, and why: bounded texts for the audit (P34).
create function crontick.check_actor(p_by text, p_reason text) returns void
language plpgsql immutable
as $$
begin
    if p_by is null or p_by = '' or length(p_by) > 128 then
        raise exception '"by" has 1 to 128 characters'
            using errcode = 'CT004', hint = 'say who acts: a name or an e-mail address';
    end if;
    if length(p_reason) > 1000 then
        raise exception '"reason" has % characters, 1000 are allowed',
            length(p_reason)
            using errcode = 'CT004', hint = 'shorten it';
    end if;
end
$$;
