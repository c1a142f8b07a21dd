set local role knowhow_owner;

-- Under which master key an API key's secret is hashed, by a mark that tells nothing of it; null where nobody has noted it. A key that
-- is used is hashed anew where that is another one than now.
alter table api_keys add column hashed_under bytea;
grant update (secret_hash, hashed_under) on api_keys to knowhow_system;
-- A key that is rotated ends when its successor has been taken into use. It keeps when it was to end before that, as each successor
-- ends then: a key may be rotated again whose successor's secret was lost on the way.
alter table api_keys
    add column rotated_at timestamptz,
    add column first_expires_at timestamptz;
grant update (expires_at, rotated_at, first_expires_at) on api_keys to knowhow_admin;

-- Secrets that are sealed anew, of all tenants.
grant update (sealed_secret) on issuers to knowhow_system;
grant update (sealed_secret, previous_sealed_secret) on webhooks to knowhow_system;

-- ALL THAT IS KEPT OF ONE USER

-- The tables with users in them, and the role of the service that may read each: some of a user's are open to the user alone.
create function app.tables_to_take(out named text, out reader text) returns setof record language sql stable security definer
set search_path = pg_catalog as $$
    select c.relname::text,
           case when has_table_privilege('knowhow_admin', c.oid, 'select') then 'knowhow_admin' else 'knowhow_tenant' end
    from app.tables_of_users() t join pg_class c on c.oid = t
    where has_table_privilege('knowhow_admin', c.oid, 'select') or has_table_privilege('knowhow_tenant', c.oid, 'select')
    order by 1
$$;

-- Opens a cursor over the rows of the transaction's own user in a table, as JSON, as the caller may read them. What is computed of
-- texts, vectors and keys that answers are found by, is left out.
create function app.open_rows(named text) returns void language plpgsql set search_path = pg_catalog, public as $$
declare
    rows refcursor := 'taken_rows';
begin
    open rows for execute format(
        'select (to_jsonb(t) - array[''embedding'', ''salt''])::text as line from public.%I t
         where t.tenant_id = app.tenant_id() and t.user_id = app.user_id()', named);
end $$;
revoke all on function app.tables_to_take(), app.open_rows(text) from public;
grant execute on function app.tables_to_take() to knowhow_admin;
grant execute on function app.open_rows(text) to knowhow_admin, knowhow_tenant;

reset role;
