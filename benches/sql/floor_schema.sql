-- Frozen: nobody edits this file. It is what a plain service would send for the same answer, so that figures of years can be
-- compared, and so that a slow statement of the service shows beside it (its own SQL on both sides would hide that).
-- Tables of its own, so that no migration touches them; isolated by row as the service's are.
create schema floor;
grant usage on schema floor to knowhow_login, knowhow_tenant;

create table floor.skills (
    tenant_id uuid not null,
    user_id uuid not null,
    name text collate "C" not null,
    summary text,
    description text not null,
    category text,
    tags text[] not null,
    version integer not null,
    pinned boolean not null,
    importance real not null,
    updated_at timestamptz not null,
    document text not null,
    primary key (tenant_id, user_id, name)
);

create table floor.usage (
    tenant_id uuid not null,
    user_id uuid not null,
    name text collate "C" not null,
    times_used bigint not null,
    last_used_at timestamptz,
    primary key (tenant_id, user_id, name)
) with (fillfactor = 80);

create table floor.history (
    tenant_id uuid not null,
    user_id uuid not null,
    name text collate "C" not null,
    version integer not null,
    document text not null,
    created_at timestamptz not null,
    primary key (tenant_id, user_id, name, version)
);

create table floor.turns (
    tenant_id uuid not null,
    user_id uuid not null,
    turn bigint generated always as identity,
    message text not null,
    shown text[] not null,
    created_at timestamptz not null,
    primary key (tenant_id, user_id, turn)
);

create function floor.protect(target regclass) returns void language plpgsql as $$
begin
    execute format('alter table %s enable row level security', target);
    execute format('alter table %s force row level security', target);
    execute format('create policy owner on %s using (tenant_id = current_setting(''app.tenant_id'')::uuid '
        'and user_id = current_setting(''app.user_id'')::uuid)', target);
    execute format('grant select, insert, update on %s to knowhow_tenant', target);
end $$;
select floor.protect(name) from unnest('{floor.skills,floor.usage,floor.history,floor.turns}'::regclass[]) name;
