-- What a person calls a target, as its breaker has it: endpoint:NAME, kind:NAME or a URL.
create function crontick.breaker_target(p_target text) returns text
language plpgsql immutable
as $$
begin
    if p_target ~ '^(endpoint|kind):.' and length(p_target) <= 140 then
        return p_target;
    elsif p_target ~ '^[a-zA-Z]+://[^\s[:cntrl:]]+$' then
        return crontick.target_url(p_target);
    end if;
    raise exception 'a breaker belongs to endpoint:NAME, kind:NAME or a URL, not to %', coalesce(quote_literal(left(p_target, 80)), 'null')
        using errcode = 'CT004', hint = '`crontick breakers` shows them';
end
$$;
