-- The roles of the service, the context of a transaction, and the row-level security of tables.

-- Roles belong to the whole server: another database may have created them, even at this moment.
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
                     ('knowhow_system', 'nologin noinherit'),
                     ('knowhow_queue', 'nologin noinherit')) as r (role, options)
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
    -- NOINHERIT and no grants of its own: the login has no rights until a transaction takes one of these roles.
    grant knowhow_tenant, knowhow_admin, knowhow_system, knowhow_queue to knowhow_login with inherit false, set true;
    alter role knowhow_login set idle_in_transaction_session_timeout = '10s';
    execute format('grant create on database %I to knowhow_owner', current_database());
end $$;

create extension if not exists vector;
grant usage, create on schema public to knowhow_owner;
grant usage on schema public to knowhow_login, knowhow_tenant, knowhow_admin, knowhow_system;
create schema app authorization knowhow_owner;

set local role knowhow_owner;

-- The login role prepares statements before its transaction takes another role. To resolve names, it needs usage of the schema.
grant usage on schema app to knowhow_login, knowhow_tenant, knowhow_admin, knowhow_system;

-- THE CONTEXT OF A TRANSACTION

-- Every policy of every table in a statement asks for the tenant and the user: 9 times for one load of a skill, 17 times in a
-- turn. The planner inlines functions that are one expression of standard SQL, and then a policy takes a tenth of the time. Names in
-- such a body are resolved when the function is created. It must have no search_path, because that would prevent inlining.
-- If a statement names the columns itself, the planner makes a policy with a STABLE call a one-time check.

create function app.no_context() returns text language plpgsql stable parallel safe set search_path = pg_catalog as $$
begin
    raise exception 'no tenant context' using errcode = '42501';
end $$;

-- After a transaction with SET LOCAL a setting reads as '', not NULL.
create function app.tenant_id() returns uuid language sql stable parallel safe
return coalesce(nullif(current_setting('app.tenant_id', true), ''), app.no_context())::uuid;

create function app.user_id() returns uuid language sql stable parallel safe
return coalesce(nullif(current_setting('app.user_id', true), ''), app.no_context())::uuid;

-- The origin of a request, as the service sets it for the transaction: the request's id (part 1) and the caller's address (part 2).
create function app.origin(part integer) returns text language sql stable parallel safe
return nullif(split_part(coalesce(current_setting('app.origin', true), ''), ' ', part), '');
revoke all on function app.origin(integer) from public;
grant execute on function app.origin(integer) to knowhow_tenant, knowhow_admin, knowhow_system;

-- PROTECTION OF TABLES

-- The user that the running transaction erases. Only app.erase_step sets it.
create function app.erased_user() returns uuid language sql stable parallel safe
return nullif(current_setting('app.erased_user', true), '')::uuid;

-- Gives the owner access to the rows of the user that is being erased: app.erase_step runs as the owner.
create function app.open_to_erasure(target regclass) returns void language plpgsql set search_path = pg_catalog as $$
begin
    execute format('create policy erasure on %s to knowhow_owner '
        'using (tenant_id = app.tenant_id() and user_id = app.erased_user()) '
        'with check (tenant_id = app.tenant_id() and user_id = app.erased_user())', target);
end $$;
revoke all on function app.erased_user(), app.open_to_erasure(regclass) from public;

-- Informs Postgres that the tenant of a row follows from its user. A user belongs to one tenant and may have thousands of rows.
-- Postgres takes tenant and user for independent, and so expects less than one row of a user. Then an index by the owner alone looks as
-- good as one by the owner and a key. A statement that needs one row would read all rows of the user.
create function app.relate_owners(target regclass) returns void language plpgsql set search_path = pg_catalog as $$
begin
    execute format('create statistics public.%I (dependencies) on tenant_id, user_id from %s',
                   (select relname from pg_class where oid = target) || '_owner', target);
end $$;
revoke all on function app.relate_owners(regclass) from public;

-- Protects a table that has a `tenant_id`. A table with a `user_id` belongs to users: only the user has access to the user's rows, and
-- an admin of the tenant may read them. A table without a `user_id` belongs to the tenant, and its admin manages it. Grants decide
-- which statements are allowed.
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
        perform app.open_to_erasure(target);
        perform app.relate_owners(target);
    else
        execute format('create policy tenant_admin on %s to knowhow_admin '
            'using (tenant_id = app.tenant_id()) with check (tenant_id = app.tenant_id())', target);
    end if;
end $$;

-- Opens a table to statements across tenants, for example the deletion of expired rows. They leave out tenants that live at another
-- place: such a tenant's rows are being moved, or are no longer in use.
create function app.open_to_system(target regclass) returns void language plpgsql set search_path = pg_catalog as $$
begin
    execute format('create policy system on %s to knowhow_system '
        'using (tenant_id <> all (array(select e.tenant from public.tenants_elsewhere e))) with check (true)', target);
end $$;

-- Lets the users of a tenant read its rows. Only the tenant's admin or the system may write them.
create function app.share_with_users(target regclass) returns void language plpgsql set search_path = pg_catalog as $$
begin
    execute format('create policy shared on %s for select to knowhow_tenant using (tenant_id = app.tenant_id())', target);
end $$;
revoke all on function app.protect(regclass), app.open_to_system(regclass), app.share_with_users(regclass) from public;

-- COMMON CHECKS

-- Fails a statement that did not find the row to change. The service sends COMMIT together with the statement, before it has the answer.
-- Without an error the rest of the transaction would be committed.
create function app.require_written(row_id uuid) returns uuid language plpgsql set search_path = pg_catalog as $$
begin
    if row_id is null then
        raise exception 'what was to be written is gone, or has changed' using errcode = 'KH001';
    end if;
    return row_id;
end
$$;
revoke all on function app.require_written(uuid) from public;
grant execute on function app.require_written(uuid) to knowhow_tenant, knowhow_admin;

reset role;
