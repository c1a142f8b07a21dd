set local role knowhow_owner;

-- A stored setting that is of another type or out of its range failed the statements that clear up and enqueue for all tenants, so
-- one tenant stopped them all. These functions read a setting as the program does: an unusable one has its default.

-- A whole number from `lowest` to `highest`; null for anything else.
create function app.whole_setting(setting jsonb, lowest integer, highest integer) returns integer
language sql immutable parallel safe set search_path = pg_catalog
return case when jsonb_typeof(setting) = 'number' and setting::text ~ '^[0-9]{1,9}$'
            then case when setting::integer between lowest and highest then setting::integer end end;
revoke all on function app.whole_setting(jsonb, integer, integer) from public;
grant execute on function app.whole_setting(jsonb, integer, integer) to knowhow_system;

-- Days for which rows stay. Of an unusable setting the longest: a later release may have stored it, and deleted rows are lost.
create function app.retention_days(setting jsonb, lowest integer, fallback integer) returns integer
language sql immutable parallel safe set search_path = pg_catalog
return case when coalesce(jsonb_typeof(setting), 'null') = 'null' then fallback
            else coalesce(app.whole_setting(setting, lowest, 3650), 3650) end;
revoke all on function app.retention_days(jsonb, integer, integer) from public;
grant execute on function app.retention_days(jsonb, integer, integer) to knowhow_system;

create function app.flag_setting(setting jsonb, fallback boolean) returns boolean
language sql immutable parallel safe set search_path = pg_catalog
return case when jsonb_typeof(setting) = 'boolean' then setting::boolean else fallback end;
revoke all on function app.flag_setting(jsonb, boolean) from public;
grant execute on function app.flag_setting(jsonb, boolean) to knowhow_system;

create or replace function app.audit_days(of_tenant uuid) returns integer language sql stable set search_path = pg_catalog, public
return app.retention_days((select t.settings -> 'audit_days' from tenants t where t.tenant_id = of_tenant), 30, 400);

reset role;
