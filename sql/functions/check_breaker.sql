-- Refuses a target whose breaker would hold nothing: an endpoint or kind that nobody knows, a kind without a breaker.
create function crontick.check_breaker(p_target text) returns void
language plpgsql stable
as $$
declare
    v_name constant text := substr(p_target, strpos(p_target, ':') + 1);
    v_breaker boolean;
begin
    if p_target like 'endpoint:%' then
        if v_name <> all(crontick.known_endpoints()) then
            perform crontick.missing_endpoint(v_name);
        end if;
    elsif p_target = 'kind:deliver_webhook' then
        raise exception 'deliver_webhook has a breaker for each endpoint or URL, and none of its own'
            using errcode = 'CT004', hint = 'name endpoint:NAME or the URL, or `crontick pause kind deliver_webhook`';
    elsif p_target like 'kind:%' then
        select k.breaker into v_breaker from crontick.kinds as k where k.name = v_name;
        if not found then
            raise exception 'no deployment knows the kind %',
                left(v_name, 80) || crontick.did_you_mean(v_name, array(select k.name from crontick.kinds as k))
                using errcode = 'CT404', hint = '`crontick migrate` makes the kinds of a deployment known';
        elsif not v_breaker then
            raise exception 'the kind % has no breaker, so nothing would be held', left(v_name, 80)
                using errcode = 'CT004',
                    hint = format('`crontick pause kind %s` keeps its jobs; [kinds.%s] breaker = true gives it one', v_name, v_name);
        end if;
    end if;
end
$$;
