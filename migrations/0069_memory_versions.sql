-- A memory can be corrected. Its earlier versions stay readable, newest first.
set local role knowhow_owner;

alter table memories
    add column version integer not null default 1 check (version >= 1),
    -- When the current version was written; null for the first version.
    add column updated_at timestamptz;
grant update (content, tags, importance, core, version, updated_at, actor, approved_by, approved_at)
    on memories to knowhow_tenant;

create table memory_versions (
    tenant_id uuid not null,
    user_id uuid not null,
    memory_id uuid not null,
    version integer not null check (version >= 1),
    importance real not null,
    core boolean not null,
    -- When this version was written.
    created_at timestamptz not null,
    actor text,
    tags text[] not null,
    content text not null,
    primary key (tenant_id, user_id, memory_id, version),
    foreign key (tenant_id, user_id, memory_id) references memories on delete cascade
);
select app.protect('memory_versions');
grant select, insert, delete on memory_versions to knowhow_tenant, knowhow_admin;

reset role;
