-- Roles are cluster-wide: another database of the same server may have made them already, even at this moment.
do $$
declare
    wanted record;
begin
    for wanted in
        select *
        from (values ('knowhow_owner', 'nologin noinherit'),
                     ('knowhow_login', 'login noinherit'),
                     ('knowhow_tenant', 'nologin noinherit'),
                     ('knowhow_admin', 'nologin noinherit'),
                     ('knowhow_system', 'nologin noinherit')) as r (role, options)
    loop
        begin
            if not exists (select from pg_roles where rolname = wanted.role) then
                execute format('create role %I %s', wanted.role, wanted.options);
            end if;
        exception when duplicate_object or unique_violation then
            null;
        end;
    end loop;
end $$;

do $$
begin
    perform pg_advisory_xact_lock(hashtext('knowhow roles'));
    execute format('grant knowhow_owner to %I with inherit true, set true', current_user);
    -- NOINHERIT and no grants of its own: the login can do nothing until a transaction takes one of these roles.
    grant knowhow_tenant, knowhow_admin, knowhow_system to knowhow_login with inherit false, set true;
    alter role knowhow_login set idle_in_transaction_session_timeout = '10s';
    execute format('grant create on database %I to knowhow_owner', current_database());
end $$;

create extension if not exists vector;
grant usage, create on schema public to knowhow_owner;
grant usage on schema public to knowhow_login, knowhow_tenant, knowhow_admin, knowhow_system;
create schema app authorization knowhow_owner;

set local role knowhow_owner;

-- STABLE plain calls: beside a statement that names the columns itself, the planner turns the policy into a one-time check.
create function app.tenant_id() returns uuid language plpgsql stable parallel safe set search_path = pg_catalog as $$
declare
    value text := current_setting('app.tenant_id', true);
begin
    -- After a transaction with SET LOCAL the setting reads as '', not NULL.
    if value is null or value = '' then
        raise exception 'no tenant context' using errcode = '42501';
    end if;
    return value::uuid;
end $$;

create function app.user_id() returns uuid language plpgsql stable parallel safe set search_path = pg_catalog as $$
declare
    value text := current_setting('app.user_id', true);
begin
    if value is null or value = '' then
        raise exception 'no tenant context' using errcode = '42501';
    end if;
    return value::uuid;
end $$;

-- The one form of protection. A table with user_id belongs to users: its rows are its owner's alone, and an admin of
-- the tenant may read them. A table without belongs to the tenant, and its admin keeps it. Grants decide the verbs.
create function app.protect(target regclass) returns void language plpgsql set search_path = pg_catalog as $$
begin
    execute format('alter table %s enable row level security', target);
    execute format('alter table %s force row level security', target);
    if exists (select from pg_attribute where attrelid = target and attname = 'user_id' and not attisdropped) then
        execute format('create policy owner on %s to knowhow_tenant, knowhow_admin '
            'using (tenant_id = app.tenant_id() and user_id = app.user_id()) '
            'with check (tenant_id = app.tenant_id() and user_id = app.user_id())', target);
        execute format('create policy tenant_admin on %s for select to knowhow_admin '
            'using (tenant_id = app.tenant_id())', target);
    else
        execute format('create policy tenant_admin on %s to knowhow_admin '
            'using (tenant_id = app.tenant_id()) with check (tenant_id = app.tenant_id())', target);
    end if;
end $$;

-- For the few tables that statements across tenants touch (looking a credential up, pruning what is due).
create function app.open_to_system(target regclass) returns void language plpgsql set search_path = pg_catalog as $$
begin
    execute format('create policy system on %s to knowhow_system using (true) with check (true)', target);
end $$;

revoke all on function app.protect(regclass), app.open_to_system(regclass) from public;
grant usage on schema app to knowhow_tenant, knowhow_admin, knowhow_system;
reset role;
