set local role knowhow_owner;

-- Where a tenant is told of changes that wait for a person.
create table webhooks (
    tenant_id uuid primary key references tenants,
    url text not null,
    sealed_secret bytea not null,
    -- The secret before, by which messages are signed too until its time is over.
    previous_sealed_secret bytea,
    previous_until timestamptz,
    created_at timestamptz not null,
    delivered_at timestamptz,
    failed_at timestamptz,
    -- Failures in a row, and why the last one.
    failures integer not null default 0,
    last_error text
);
select app.protect('webhooks');
select app.open_to_system('webhooks');
grant select, insert, update, delete on webhooks to knowhow_admin;
grant select, update (delivered_at, failed_at, failures, last_error) on webhooks to knowhow_system;
-- Whoever proposes a change asks whether there is anybody to tell, and learns nothing more.
select app.share_with_users('webhooks');
grant select (tenant_id) on webhooks to knowhow_tenant;

reset role;
