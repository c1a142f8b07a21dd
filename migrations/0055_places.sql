set local role knowhow_owner;

-- Tenants of which rows are here and that live at another place: those that are on their way here, and those that have left. A
-- tenant that is moved is marked at both places for a moment, and never at neither: so no two places take its writes. It is no row of
-- the tenant, which is not moved along, and no role of a tenant can read it.
create table tenants_elsewhere (
    tenant uuid primary key,
    -- Whether it is on its way here, or is about to leave or has left.
    heading text not null check (heading in ('coming', 'leaving')),
    -- The place that it comes from, or goes to.
    other_place text not null,
    since timestamptz not null
);
grant select on tenants_elsewhere to knowhow_system;

-- Where tenants are spread over several places, each transaction of one begins with this. The lock ends with the transaction:
-- whoever moves the tenant marks it, takes the lock alone, and so has waited for all who had not seen the mark. The mark is looked for
-- behind the lock, by a statement of its own, which sees what was committed until then.
create function app.require_here() returns void language plpgsql volatile security definer
set search_path = pg_catalog as $$
begin
    -- Before the lock too: whoever comes while others are waited for must not stand in line behind that.
    if exists (select from public.tenants_elsewhere e where e.tenant = app.tenant_id()) then
        raise exception 'the tenant lives at another place' using errcode = 'KH003';
    end if;
    perform pg_advisory_xact_lock_shared(hashtext('tenant at work'), hashtext(app.tenant_id()::text));
    if exists (select from public.tenants_elsewhere e where e.tenant = app.tenant_id()) then
        raise exception 'the tenant lives at another place' using errcode = 'KH003';
    end if;
end $$;
revoke all on function app.require_here() from public;
grant execute on function app.require_here() to knowhow_tenant, knowhow_admin, knowhow_system;

-- As before (0001), but for tenants that are elsewhere: their rows are on their way, or nobody's any more.
create or replace function app.open_to_system(target regclass) returns void language plpgsql set search_path = pg_catalog as $$
begin
    execute format('create policy system on %s to knowhow_system '
        'using (tenant_id <> all (array(select e.tenant from public.tenants_elsewhere e))) with check (true)', target);
end $$;

-- What works across tenants leaves the rows of those alone, in the tables there are already. Who comes is
-- still found by these: a transaction that began before the mark ends as it began, and one that begins after it is refused.
do $$
declare
    opened record;
begin
    for opened in
        select p.tablename from pg_policies p
        where p.schemaname = 'public' and p.policyname = 'system' and p.roles = array['knowhow_system']::name[]
          and p.tablename not in ('tenants', 'issuers', 'api_keys', 'users', 'user_catalogs')
          and exists (select from pg_attribute a where a.attrelid = format('public.%I', p.tablename)::regclass
                      and a.attname = 'tenant_id' and not a.attisdropped)
    loop
        execute format('alter policy system on public.%I '
            'using (tenant_id <> all (array(select e.tenant from public.tenants_elsewhere e))) with check (true)',
            opened.tablename);
    end loop;
end $$;

reset role;
