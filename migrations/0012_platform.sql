-- The platform: erasure and export of a user's data, restored backups, processes and webhooks.
set local role knowhow_owner;

-- ERASURE

-- The erased users, kept for good. A row names no person: `external_hash` is a hash of the tenant's own name with a key of the
-- deployment, and `subject_id` is the id that the rows had. After a backup was restored, the same rows are erased again by it.
create table erasures (
    tenant_id uuid not null references tenants,
    erasure_id uuid not null,
    subject_id uuid not null,
    external_hash bytea not null,
    reason text not null,
    actor text not null,
    requested_at timestamptz not null,
    finished_at timestamptz,
    removed bigint not null default 0,
    primary key (tenant_id, erasure_id),
    unique (tenant_id, subject_id)
);
create index erasures_by_hash on erasures (tenant_id, external_hash);
create index erasures_by_end on erasures (finished_at);
select app.protect('erasures');
select app.open_to_system('erasures');
grant select, insert on erasures to knowhow_admin;
grant select, update (finished_at, removed) on erasures to knowhow_system;
create policy ledger on erasures for select to knowhow_owner using (tenant_id = app.tenant_id());

-- The tables with rows of users, from the catalogue. A table comes before the tables that it refers to.
create function app.tables_of_users() returns setof regclass language sql stable set search_path = pg_catalog as $$
    with recursive tables as (
        select c.oid from pg_class c
        join pg_attribute t on t.attrelid = c.oid and t.attname = 'tenant_id' and not t.attisdropped
        join pg_attribute u on u.attrelid = c.oid and u.attname = 'user_id' and not u.attisdropped
        where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
    ), depths as (
        select oid, 0 as depth from tables
        union
        select f.conrelid, d.depth + 1 from depths d
        join pg_constraint f on f.contype = 'f' and f.confrelid = d.oid and f.conrelid <> f.confrelid
        where d.depth < 20
    )
    select d.oid::regclass from depths d join tables t on t.oid = d.oid group by d.oid order by max(d.depth) desc, d.oid
$$;
revoke all on function app.tables_of_users() from public;

-- Deletes at most `most` rows of an erased user, from every table with rows of users; returns how many, 0 if none are left. Entries of the
-- audit log stay, without their content. Only a user in the ledger of erasures can be erased.
create function app.erase_step(of_tenant uuid, subject uuid, most integer) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, public as $$
declare
    target regclass;
    gone bigint := 0;
    now_gone bigint;
begin
    perform set_config('app.tenant_id', of_tenant::text, true), set_config('app.erased_user', subject::text, true);
    if not exists (select from erasures e where e.tenant_id = of_tenant and e.subject_id = subject) then
        raise exception 'the user is not in the ledger of erasures' using errcode = '42501';
    end if;
    delete from graphile_worker._private_jobs j
    where coalesce(j.payload ->> 'tenant_id', '') = of_tenant::text and j.payload ->> 'user_id' = subject::text
      and j.locked_at is null;
    for target in
        select t from app.tables_of_users() t where t not in ('audit_log'::regclass, 'users'::regclass)
    loop
        -- A row is identified by its table and ctid, because ctids repeat in the partitions of a table.
        execute format('with due as materialized (
                select tableoid as part, ctid as place from %1$s where tenant_id = $1 and user_id = $2 limit $3)
            delete from %1$s x using due
            where x.tenant_id = $1 and x.user_id = $2 and x.ctid = any (array(select place from due))
              and x.tableoid = due.part and x.ctid = due.place', target)
        using of_tenant, subject, most - gone;
        get diagnostics now_gone = row_count;
        gone := gone + now_gone;
        if gone >= most then
            return gone;
        end if;
    end loop;
    update audit_log a
    set erased_digest = app.content_of_entry(a), salt = null, target = '', detail = '{}', request_id = null, address = null,
        before_digest = null, after_digest = null
    where a.tenant_id = of_tenant and a.user_id = subject and a.audit_id in (
        select l.audit_id from audit_log l
        where l.tenant_id = of_tenant and l.user_id = subject and l.erased_digest is null
          and l.action not in ('user.hold', 'user.release', 'user.erase')
        limit most - gone);
    get diagnostics now_gone = row_count;
    gone := gone + now_gone;
    if gone > 0 then
        return gone;
    end if;
    delete from users u where u.tenant_id = of_tenant and u.user_id = subject;
    get diagnostics now_gone = row_count;
    return now_gone;
exception when foreign_key_violation then
    -- A transaction that began before the erasure has written a row since: another step deletes it.
    return 1;
end $$;
revoke all on function app.erase_step(uuid, uuid, integer) from public;
grant execute on function app.erase_step(uuid, uuid, integer) to knowhow_system;

-- EXPORT OF A USER'S DATA

-- The tables with rows of users, and the role of the service that may read each: some are open to the user alone.
create function app.tables_to_take(out named text, out reader text) returns setof record language sql stable security definer
set search_path = pg_catalog as $$
    select c.relname::text,
           case when has_table_privilege('knowhow_admin', c.oid, 'select') then 'knowhow_admin' else 'knowhow_tenant' end
    from app.tables_of_users() t join pg_class c on c.oid = t
    where has_table_privilege('knowhow_admin', c.oid, 'select') or has_table_privilege('knowhow_tenant', c.oid, 'select')
    order by 1
$$;

-- Opens a cursor over the rows of the transaction's own user in a table, as JSON, as the caller may read them. Vectors, which are computed
-- from texts, and salts are left out.
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

-- RESTORED BACKUPS

-- Prepares a database that was restored to an older state. Increases the revisions of all users by more than any process can have seen, so
-- that no process takes its cached data for newer. Adds the ledger of erasures that was stored elsewhere, and starts the erasure of those
-- users again. It may be called twice. Only for the owner: knowhow migrate --restored.
create function app.note_restored(ledger jsonb, out users bigint, out erased bigint)
language plpgsql volatile set search_path = pg_catalog, public as $$
declare
    leap constant bigint := 4294967296;
begin
    -- The policies apply to the owner too, and no policy gives access to the rows of all users.
    alter table users no force row level security;
    alter table user_catalogs no force row level security;
    alter table tenants no force row level security;
    alter table erasures no force row level security;
    insert into erasures (tenant_id, erasure_id, subject_id, external_hash, reason, actor, requested_at)
    select l.tenant_id, l.erasure_id, l.subject_id, decode(l.external_hash, 'hex'), l.reason, l.actor, l.requested_at
    from jsonb_to_recordset(ledger) as l (tenant_id uuid, erasure_id uuid, subject_id uuid, external_hash text, reason text,
                                          actor text, requested_at timestamptz)
    where exists (select from tenants t where t.tenant_id = l.tenant_id)
    on conflict do nothing;
    update erasures e set finished_at = null from users u where u.tenant_id = e.tenant_id and u.user_id = e.subject_id;
    with marked as (
        update users u set external_id = chr(1) || u.user_id::text, erased_at = now(), held_at = null, hold_reason = null
        from erasures e
        where u.tenant_id = e.tenant_id and u.user_id = e.subject_id and u.erased_at is null
        returning u.tenant_id
    ), counted as (
        update tenants t set user_count = greatest(0, t.user_count - m.gone)
        from (select tenant_id, count(*)::integer as gone from marked group by tenant_id) m
        where t.tenant_id = m.tenant_id
    )
    select count(*) into erased from marked;
    update tenants t set erasures = t.erasures + leap;
    update user_catalogs c set revision = c.revision + leap, examples_revision = c.examples_revision + leap;
    get diagnostics users = row_count;
    alter table users force row level security;
    alter table user_catalogs force row level security;
    alter table tenants force row level security;
    alter table erasures force row level security;
end $$;
revoke all on function app.note_restored(jsonb) from public;

-- PROCESSES

-- The processes that use this database. Doctor and operators see their number, versions and how many connections they may open together. A
-- process updates its row every 20 s, and deletes it when it ends. Another process deletes the row of a process that crashed. Times are
-- those of the database, because the clocks of hosts differ.
create table processes (
    process_id uuid primary key,
    kind text not null check (kind in ('serve', 'serve_with_worker', 'worker')),
    version text not null,
    host text not null,
    connections integer not null check (connections > 0),
    started_at timestamptz not null default now(),
    seen_at timestamptz not null default now()
);
grant select, insert, update (seen_at), delete on processes to knowhow_system;

-- WEBHOOKS

-- The address that is notified of a tenant's changes that wait for a person.
create table webhooks (
    tenant_id uuid primary key references tenants,
    url text not null,
    sealed_secret bytea not null,
    -- The previous secret. Messages are signed with it too, until this time.
    previous_sealed_secret bytea,
    previous_until timestamptz,
    created_at timestamptz not null,
    delivered_at timestamptz,
    failed_at timestamptz,
    -- Failures in a row, and the reason of the last one.
    failures integer not null default 0,
    last_error text
);
select app.protect('webhooks');
select app.open_to_system('webhooks');
grant select, insert, update, delete on webhooks to knowhow_admin;
grant select, update (delivered_at, failed_at, failures, last_error, sealed_secret, previous_sealed_secret) on webhooks to knowhow_system;
-- A user who proposes a change asks whether there is a webhook, and can read no other column.
select app.share_with_users('webhooks');
grant select (tenant_id) on webhooks to knowhow_tenant;

reset role;
