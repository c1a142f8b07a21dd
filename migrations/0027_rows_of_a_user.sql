set local role knowhow_owner;

-- A user belongs to one tenant, and may have thousands of rows. Postgres takes tenant and user for independent, and so expects
-- less than one row of a user. Then an index looks as good by the owner alone as by the owner and a key, and a statement reads all
-- that a user has where it needs one row. So it is told that the one follows from the other.
create or replace function app.protect(target regclass) returns void language plpgsql set search_path = pg_catalog as $$
begin
    execute format('alter table %s enable row level security', target);
    execute format('alter table %s force row level security', target);
    if exists (select from pg_attribute where attrelid = target and attname = 'user_id' and not attisdropped) then
        execute format('create policy owner on %s to knowhow_tenant, knowhow_admin '
            'using (tenant_id = app.tenant_id() and user_id = app.user_id()) '
            'with check (tenant_id = app.tenant_id() and user_id = app.user_id())', target);
        execute format('create policy tenant_admin on %s for select to knowhow_admin '
            'using (tenant_id = app.tenant_id())', target);
        perform app.relate_owners(target);
    else
        execute format('create policy tenant_admin on %s to knowhow_admin '
            'using (tenant_id = app.tenant_id()) with check (tenant_id = app.tenant_id())', target);
    end if;
end $$;

-- Has the statistics of a table say that its tenants follow from its users.
create function app.relate_owners(target regclass) returns void language plpgsql set search_path = pg_catalog as $$
begin
    execute format('create statistics public.%I (dependencies) on tenant_id, user_id from %s',
                   (select relname from pg_class where oid = target) || '_owner', target);
end $$;
revoke all on function app.relate_owners(regclass) from public;

-- Not of tainted passages: who writes asks whether there is any, few users have one, and where many rows of a user are expected the
-- first is looked for among those of everybody.
do $$
declare
    target regclass;
begin
    for target in
        select c.oid from pg_class c
        join pg_attribute t on t.attrelid = c.oid and t.attname = 'tenant_id'
        join pg_attribute u on u.attrelid = c.oid and u.attname = 'user_id'
        where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and c.relrowsecurity
          and c.oid <> 'tainted_passages'::regclass
    loop
        perform app.relate_owners(target);
    end loop;
end $$;

-- Where many users are new, a row of each is what to expect on average. Plans are kept for all users, so that they must suit who has
-- much: of what users gather, fifty rows are expected.
do $$
declare
    target regclass;
begin
    foreach target in array array['skills', 'skill_versions', 'skill_resources', 'skill_files', 'skill_usage', 'skill_embeddings', 'skill_redirects',
        'usage_events', 'memories', 'memory_embeddings', 'conversation_summaries', 'sessions', 'messages', 'turns', 'snapshots',
        'audit_log']::regclass[]
    loop
        execute format('alter table %s alter column user_id set (n_distinct = -0.02)', target);
    end loop;
end $$;

-- From now on, not when enough rows have changed.
analyze;

reset role;
