set local role knowhow_owner;

-- A USER IS HELD OR ERASED

-- Held: an admin has said that nothing of the user may go, and why. Erased: nobody is called so any more; the rows are removed by
-- a job, and this one is the last of them.
alter table users
    add column held_at timestamptz,
    add column hold_reason text,
    add column erased_at timestamptz;
grant update (external_id, held_at, hold_reason, erased_at) on users to knowhow_admin;

-- Counted up with every erasure. Processes read a tenant at least once a second; where this has changed, they look users up anew.
alter table tenants add column erasures bigint not null default 0;
grant update (erasures, user_count) on tenants to knowhow_admin;

-- Who was erased, for good. It names nobody: external_hash is the tenant's own name under a key of the deployment, and subject_id
-- is the id that the rows had. After a restore of an older state, the same rows are erased again by it.
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

-- WHAT REMOVES THE ROWS

-- Whose rows the running transaction erases: nobody's, but within app.erase_step.
create function app.erased_user() returns uuid language sql stable parallel safe
return nullif(current_setting('app.erased_user', true), '')::uuid;

-- The owner, as which app.erase_step runs, has of every table with users in it the rows of the one who is being erased.
create function app.open_to_erasure(target regclass) returns void language plpgsql set search_path = pg_catalog as $$
begin
    execute format('create policy erasure on %s to knowhow_owner '
        'using (tenant_id = app.tenant_id() and user_id = app.erased_user()) '
        'with check (tenant_id = app.tenant_id() and user_id = app.erased_user())', target);
end $$;
revoke all on function app.erased_user(), app.open_to_erasure(regclass) from public;

-- As before (0027), and open to erasure.
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
        perform app.open_to_erasure(target);
        perform app.relate_owners(target);
    else
        execute format('create policy tenant_admin on %s to knowhow_admin '
            'using (tenant_id = app.tenant_id()) with check (tenant_id = app.tenant_id())', target);
    end if;
end $$;

-- The tables with users in them, as the catalogue has them now: those that refer to others come before these.
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

do $$
declare
    target regclass;
begin
    for target in select * from app.tables_of_users() loop
        perform app.open_to_erasure(target);
    end loop;
end $$;

-- THE LOG OF ONE WHO WAS ERASED

-- What an entry says beside who, when and what kind of thing: names of skills, the address, digests of texts. It can be taken out
-- of the entry, and the digest of it stays, so that a digest over the entry stays the same. The salt goes with what it salts: then
-- nobody finds out by trying what the digest was of.
alter table audit_log
    add column salt uuid default gen_random_uuid(),
    add column erased_digest bytea;

create function app.content_of_entry(e audit_log) returns bytea language sql stable set search_path = pg_catalog
return coalesce((e).erased_digest, sha256(convert_to(jsonb_build_array(
    (e).salt, (e).target, (e).detail, (e).request_id, host((e).address), encode((e).before_digest, 'hex'),
    encode((e).after_digest, 'hex'))::text, 'UTF8')));
revoke all on function app.content_of_entry(audit_log) from public;

-- ONE STEP

-- Removes at most so many rows of a user who was erased, of every table that has users, and says how many; 0 where nothing is left.
-- Entries of the log stay, without what they say of the user. Only who is in the ledger can be erased.
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
        -- A row is known by its table and place: in a table of several parts, places repeat.
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
    -- Somebody who had begun before has written since: once more.
    return 1;
end $$;
revoke all on function app.erase_step(uuid, uuid, integer) from public;
grant execute on function app.erase_step(uuid, uuid, integer) to knowhow_system;

-- As before (0043), but of one who is erased the name is not shown, from that moment on.
create or replace function app.shown_user(named text) returns text language sql stable strict security definer
set search_path = pg_catalog, public as $$
    select coalesce(
        (select u.external_id from users u
         where u.tenant_id = app.tenant_id() and u.erased_at is null
           and u.user_id = (case when pg_input_is_valid(named, 'uuid') then named end)::uuid),
        named)
$$;

-- AFTER A RESTORE

-- The database was put back to an older state. Lifts the revisions of all users by more than any process can have seen, so that none
-- takes what it remembers for newer than what is there; adds the ledger that was kept elsewhere to what is here, and erases anew whom
-- the state has again. Done twice it does no harm. For the owner alone: knowhow migrate --restored.
create function app.note_restored(ledger jsonb, out users bigint, out erased bigint)
language plpgsql volatile set search_path = pg_catalog, public as $$
declare
    leap constant bigint := 4294967296;
begin
    -- The policies are forced upon the owner too, and admit nobody to the rows of all users.
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

reset role;
