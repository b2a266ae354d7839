-- Nobody declared an endpoint of that name.
create function crontick.missing_endpoint(p_name text) returns void
language plpgsql stable
as $$
begin
    raise exception 'there is no endpoint %', left(p_name, 80) || crontick.did_you_mean(p_name, crontick.known_endpoints())
        using errcode = 'CT404',
            hint = '`crontick webhook list` shows those of crontick.set_endpoint; one of crontick.toml is known from `crontick migrate` on';
end
$$;
