-- Secrets of endpoints in clear are replaced by the same ones sealed: [{"name", "digest", "sealed"}], each only where it still has
-- that digest (SHA-256, in hex). What somebody holds is skipped (P2), and sealed by the next tick that reads it. Returns the names
-- that were not held.
create function crontick.seal_endpoints(p_sealed json) returns text[]
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_mine text [];
begin
    v_mine := array(
        select e.name
        from crontick.webhook_endpoints as e
        where e.name = any(array(select s.name from json_to_recordset(p_sealed) as s (name text)))
        order by e.name
        for update skip locked
    );
    update crontick.webhook_endpoints as e
    set
        secret = coalesce(
            (
                select s.sealed
                from json_to_recordset(p_sealed) as s (name text, digest text, sealed text)
                where s.name = e.name and s.digest = encode(sha256(convert_to(e.secret, 'UTF8')), 'hex')
            ),
            e.secret
        ),
        old_secret = coalesce(
            (
                select s.sealed
                from json_to_recordset(p_sealed) as s (name text, digest text, sealed text)
                where s.name = e.name and s.digest = encode(sha256(convert_to(e.old_secret, 'UTF8')), 'hex')
            ),
            e.old_secret
        )
    where e.name = any(v_mine);
    return v_mine;
end
$$;
