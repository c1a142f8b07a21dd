-- What a tenant's admins make is bounded too: entries of the audit log, API keys and issuers.

set local role knowhow_owner;

-- Entries leave once they are older than their tenant keeps them: audit_days of its settings, 400 where it says nothing. No
-- setting makes that less than 30 days, so whoever could write settings could still not hide what was done lately.
create function app.audit_days(of_tenant uuid) returns integer language sql stable set search_path = pg_catalog, public
return greatest(30, coalesce((select (t.settings ->> 'audit_days')::integer from tenants t where t.tenant_id = of_tenant), 400));
revoke all on function app.audit_days(uuid) from public;
grant execute on function app.audit_days(uuid) to knowhow_system;

-- The log stays append-only for every role that serves but for this: clearing up deletes what is past its time, by the
-- database's own clock, and this policy lets it delete nothing else. There is still no grant to change an entry.
grant select (tenant_id, user_id, audit_id, at), delete on audit_log to knowhow_system;
create policy past_its_time on audit_log as restrictive for delete to knowhow_system
    using (at < now() - make_interval(days => app.audit_days(tenant_id)));

-- Keys that were revoked or have expired leave too. What is left of them are their entries in the audit log.
create index api_keys_by_end on api_keys (least(revoked_at, expires_at)) where least(revoked_at, expires_at) is not null;
grant delete on api_keys to knowhow_system;

reset role;
