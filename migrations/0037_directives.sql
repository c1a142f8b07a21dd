set local role knowhow_owner;

-- What a tenant says in place of the built-in guidance of a prompt, in versions.
create table directives (
    tenant_id uuid not null references tenants,
    name text collate "C" not null,
    version integer not null check (version > 0),
    text text not null,
    digest bytea not null,
    actor text not null,
    created_at timestamptz not null,
    -- Whether prompts have it. A name of which no version is in force has the built-in text.
    in_force boolean not null,
    primary key (tenant_id, name, version)
);
create unique index on directives (tenant_id, name) where in_force;
select app.protect('directives');
grant select, insert, delete, update (in_force) on directives to knowhow_admin;
-- Jobs that ask a model run as the user whose texts they show it.
select app.share_with_users('directives');
grant select on directives to knowhow_tenant;

reset role;
