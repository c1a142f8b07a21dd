set local role knowhow_owner;

-- SUSPENDED

-- An operator has stopped a tenant, or an admin a user: since when, and why. Processes read a tenant at least once a second, and with
-- it whether it is suspended; that a user was, they see as with an erasure (0044): the tenant's count goes up, and they look users up
-- anew.
alter table tenants
    add column suspended_at timestamptz,
    add column suspended_reason text;
alter table users
    add column suspended_at timestamptz,
    add column suspended_reason text;
grant update (suspended_at, suspended_reason) on users to knowhow_admin;

-- USERS BY HOW THEIR NAMES BEGIN

-- In the order of bytes, in which all names with one beginning stand together, whatever the database's own order is.
create index users_by_name on users (tenant_id, external_id collate "C");

reset role;
