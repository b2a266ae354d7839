-- A receiver of webhooks by name. What is null stays as it is. A new endpoint without a secret is given one, and "new" as the secret
-- makes another: the one that was made is returned, this once. The secret of before signs beside the new one for a day.
-- An endpoint that a 410 disabled is open again; one that somebody paused stays paused.
create function crontick.set_endpoint(
    name text, url text default null, secret text default null, by text default null, reason text default null
) returns text
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_now constant timestamptz := crontick.now();
    v_by constant text := coalesce(set_endpoint.by, session_user::text);
    v_old crontick.webhook_endpoints;
    v_made text;
    v_secret text := set_endpoint.secret;
    v_raw text;
begin
    perform crontick.check_actor(v_by, set_endpoint.reason);
    if set_endpoint.name is null or set_endpoint.name !~ '^[^[:cntrl:]]{1,128}$' then
        raise exception 'the name of an endpoint has 1 to 128 characters'
            using errcode = 'CT004', hint = 'select crontick.set_endpoint(''crm'', ''https://crm.example/hooks'')';
    end if;
    perform pg_advisory_xact_lock(crontick.endpoint_lock(set_endpoint.name));
    select * into v_old from crontick.webhook_endpoints as e where e.name = set_endpoint.name for update;
    if set_endpoint.url is null and v_old.name is null then
        raise exception 'there is no endpoint % yet, and no URL for it', set_endpoint.name
            using errcode = 'CT404', hint = 'give it one: `crontick webhook set NAME URL`';
    end if;
    if set_endpoint.url !~ '^https?://[^\s\\[:cntrl:]]+$' or length(set_endpoint.url) > 2048 then
        raise exception 'the URL of an endpoint begins with https:// and has 2048 characters at most, none of them blank'
            using errcode = 'CT004', hint = 'http goes to hosts that [http] allow names only';
    end if;
    if v_secret = 'new' or (v_secret is null and v_old.name is null) then
        -- gen_random_uuid() is made of strong random bits, 122 in each.
        v_made := 'whsec_' || encode(sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8')), 'base64');
        v_secret := v_made;
    elsif v_secret is not null then
        begin
            v_raw := rtrim(regexp_replace(v_secret, '^whsec_', ''), '=');
            v_raw := rpad(v_raw, (length(v_raw) + 3) / 4 * 4, '=');
            if v_raw !~ '^[A-Za-z0-9+/=]+$' or length(decode(v_raw, 'base64')) not between 24 and 64 then
                raise invalid_parameter_value;
            end if;
            v_secret := 'whsec_' || v_raw;
        exception when data_exception then
            raise exception 'the secret is no signing secret: whsec_ and the base64 of 24 to 64 bytes'
                using errcode = 'CT004', hint = 'leave it out, and one is made and returned; or `crontick webhook secret`';
        end;
    end if;
    if v_old.name is null then
        insert into crontick.webhook_endpoints (name, url, secret, created_at, updated_at)
        values (set_endpoint.name, set_endpoint.url, v_secret, v_now, v_now);
    else
        update crontick.webhook_endpoints as e
        set
            url = coalesce(set_endpoint.url, e.url),
            secret = coalesce(v_secret, e.secret),
            old_secret = case when v_secret is null then e.old_secret else e.secret end,
            old_secret_until = case when v_secret is null then e.old_secret_until else v_now + interval '1 day' end,
            updated_at = v_now
        where e.name = set_endpoint.name;
    end if;
    -- What the old URL failed is not the new one's fault; what a person opened stays open.
    if set_endpoint.url <> v_old.url and exists (
        select
        from crontick.breakers as b
        where b.hold = crontick.breaker_hold('endpoint:' || set_endpoint.name) and (b.state = 'closed' or b.retry_at is not null)
    ) then
        perform crontick.shut_breaker('reset_breaker', 'endpoint:' || set_endpoint.name, v_by, 'its URL changed', true);
    end if;
    delete from crontick.pauses as p
    where p.what = 'endpoint' and p.name = set_endpoint.name and p.status_code is not null;
    if found then
        insert into crontick.endpoint_calls (name) values (set_endpoint.name);
    end if;
    perform crontick.note(
        'set_endpoint', 'endpoint ' || set_endpoint.name, null, v_by, set_endpoint.reason,
        jsonb_build_object(
            'secret', case when v_made is not null then 'made' when v_secret is not null then 'given' else 'kept' end,
            'url', case when set_endpoint.url is not null then 'given' else 'kept' end
        )
    );
    return v_made;
end
$$;
