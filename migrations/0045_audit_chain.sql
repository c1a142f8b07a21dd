set local role knowhow_owner;

-- THE CHAIN OF THE AUDIT LOG

-- A seal says of the entries of a tenant behind one id, up to another, how many there are and what their digest is, and has the digest
-- of the seal before it. So whoever changes, removes or adds an entry has to make every later seal anew; mac is what the deployment's
-- secret says of the seal, which who has the database alone cannot make. Seals are made by a worker for entries that are some minutes
-- old: whoever writes an entry waits for nothing.
create table audit_seals (
    tenant_id uuid not null,
    number bigint not null check (number > 0),
    behind uuid not null,
    last_id uuid not null check (last_id > behind),
    entries integer not null check (entries > 0),
    entries_hash bytea not null,
    previous_hash bytea not null,
    seal_hash bytea not null,
    mac bytea not null,
    mac_under bytea not null,
    first_at timestamptz not null,
    last_at timestamptz not null,
    sealed_at timestamptz not null,
    primary key (tenant_id, number)
);
select app.protect('audit_seals');
select app.open_to_system('audit_seals');
grant select, insert, delete on audit_seals to knowhow_system;
-- Seals leave when all of their entries may have, and nothing else does.
create policy past_its_time on audit_seals as restrictive for delete to knowhow_system
    using (last_at < now() - make_interval(days => app.audit_days(tenant_id)));

-- The system's role may read of an entry whose it is and when it was made. The digest is made as the owner, who sees a log for that.
create policy sealing on audit_log for select to knowhow_owner using (tenant_id = app.tenant_id());

-- One entry, whatever was taken out of it since.
create function app.leaf_of_entry(e audit_log) returns bytea language sql stable set search_path = pg_catalog
return sha256(convert_to(jsonb_build_array(
    (e).tenant_id, (e).user_id, (e).audit_id, extract(epoch from (e).at), (e).actor, (e).action,
    encode(app.content_of_entry(e), 'hex'))::text, 'UTF8'));

-- At most so many entries of a tenant behind one id, up to another: how many, their digest in the order of ids, the last one's id and
-- when they were made. unexplained counts those whose content was taken out though nobody of that id was erased, and those that say
-- something again since: that is under no digest.
create function app.digest_entries(of_tenant uuid, behind uuid, upto uuid, most integer, out entries integer, out hash bytea,
    out last_id uuid, out first_at timestamptz, out last_at timestamptz, out unexplained integer)
language plpgsql volatile security definer set search_path = pg_catalog, public as $$
begin
    perform set_config('app.tenant_id', of_tenant::text, true);
    select count(*)::integer, sha256(coalesce(string_agg(app.leaf_of_entry(a), ''::bytea order by a.audit_id), '')),
           (array_agg(a.audit_id order by a.audit_id desc))[1], min(a.at), max(a.at),
           (count(*) filter (where a.erased_digest is not null and (
               not exists (select from erasures r where r.tenant_id = of_tenant and r.subject_id = a.user_id)
               or exists (select from users u where u.tenant_id = of_tenant and u.user_id = a.user_id and u.erased_at is null)
               or a.salt is not null or a.target <> '' or a.detail <> '{}' or a.request_id is not null or a.address is not null
               or a.before_digest is not null or a.after_digest is not null)))::integer
    into entries, hash, last_id, first_at, last_at, unexplained
    from (select l.* from audit_log l
          where l.tenant_id = of_tenant and l.audit_id > behind and l.audit_id <= upto
          order by l.audit_id limit most) a;
end $$;
revoke all on function app.leaf_of_entry(audit_log), app.digest_entries(uuid, uuid, uuid, integer) from public;
grant execute on function app.digest_entries(uuid, uuid, uuid, integer) to knowhow_system;

reset role;
