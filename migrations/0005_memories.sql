-- Memories of a user, and the user's soul: the description of how the agent should be.
set local role knowhow_owner;

create table souls (
    tenant_id uuid not null,
    user_id uuid not null,
    version integer not null check (version >= 1),
    content text not null,
    actor text not null,
    session text,
    tainted boolean not null,
    created_at timestamptz not null,
    -- The reviewer of a tainted version. The text never changes, so the reviewer read this text.
    approved_by text,
    approved_at timestamptz,
    primary key (tenant_id, user_id, version),
    foreign key (tenant_id, user_id) references users
);
select app.protect('souls');
grant select, insert, update (tainted), delete on souls to knowhow_tenant, knowhow_admin;
grant update (approved_by, approved_at) on souls to knowhow_tenant;

create table memories (
    tenant_id uuid not null,
    user_id uuid not null,
    memory_id uuid not null,
    kind text not null check (kind in ('semantic', 'episodic', 'reflection')),
    content text not null,
    tags text[] not null,
    importance real not null,
    core boolean not null,
    session text,
    tainted boolean not null,
    created_at timestamptz not null,
    -- The author of the current version; null if unknown.
    actor text,
    -- The reviewer of the current version, if it was tainted.
    approved_by text,
    approved_at timestamptz,
    -- The ended conversation that the memory was made of.
    conversation uuid,
    version integer not null default 1 check (version >= 1),
    -- When the current version was stored; null if that is the creation.
    updated_at timestamptz,
    primary key (tenant_id, user_id, memory_id),
    foreign key (tenant_id, user_id) references users
);
create index memories_core on memories (tenant_id, user_id) where core;
create unique index memories_of_conversation on memories (tenant_id, user_id, conversation) where conversation is not null;
-- A text that is saved again is the same memory. The function is leakproof, so row-level security allows the use of the index.
create index memories_by_text on memories (tenant_id, user_id, md5(content));
create statistics memories_of_owner (ndistinct, dependencies) on tenant_id, user_id from memories;
select app.protect('memories');
alter table memories alter column user_id set (n_distinct = -0.02);
-- The system looks across tenants, a page at a time, for memories without a vector of the present model.
select app.open_to_system('memories');
grant select, insert, update (tainted), delete on memories to knowhow_tenant, knowhow_admin;
grant update (content, tags, importance, core, version, updated_at, actor, approved_by, approved_at) on memories to knowhow_tenant;
grant select (tenant_id, user_id, memory_id) on memories to knowhow_system;

-- Earlier versions of changed memories.
create table memory_versions (
    tenant_id uuid not null,
    user_id uuid not null,
    memory_id uuid not null,
    version integer not null check (version >= 1),
    importance real not null,
    core boolean not null,
    -- Whether its session, or one of an earlier version, was marked later.
    tainted boolean not null default false,
    -- When this version was written.
    created_at timestamptz not null,
    actor text,
    tags text[] not null,
    content text not null,
    primary key (tenant_id, user_id, memory_id, version),
    foreign key (tenant_id, user_id, memory_id) references memories on delete cascade
);
select app.protect('memory_versions');
grant select, insert, update (tainted), delete on memory_versions to knowhow_tenant, knowhow_admin;

-- There is one vector for each model: while a model is replaced, processes with either model find their vectors.
create table memory_embeddings (
    tenant_id uuid not null,
    user_id uuid not null,
    memory_id uuid not null,
    model text not null,
    embedding halfvec not null,
    updated_at timestamptz not null default now(),
    primary key (tenant_id, user_id, memory_id, model),
    foreign key (tenant_id, user_id, memory_id) references memories on delete cascade
);
select app.protect('memory_embeddings');
alter table memory_embeddings alter column user_id set (n_distinct = -0.02);
select app.open_to_system('memory_embeddings');
grant select, insert, update, delete on memory_embeddings to knowhow_tenant, knowhow_admin;
grant select (tenant_id, user_id, memory_id, model, updated_at), delete on memory_embeddings to knowhow_system;

reset role;
