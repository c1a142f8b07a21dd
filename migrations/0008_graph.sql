-- The graph: relations between skills, memories and the things that they name.
set local role knowhow_owner;

-- The things that memories mention. The entity of a skill is the skill: it has the skill's id, and is deleted with it. A lent starter has
-- no row of its own, but an id that it keeps when it gets a row. So there is no foreign key.
create table entities (
    tenant_id uuid not null,
    user_id uuid not null,
    entity_id uuid not null,
    kind text not null
        check (kind in ('skill', 'person', 'organization', 'place', 'project', 'tool', 'topic', 'thing')),
    -- The name without case, hyphens and compatibility forms: two names of the same canonical form are the same thing.
    canonical text collate "C" not null,
    name text not null,
    -- For a skill: the version of the rules that its text was read with. 0 or less if it must be read, one less for each reason.
    read_by integer not null default 0,
    tainted boolean not null default false,
    created_at timestamptz not null,
    primary key (tenant_id, user_id, entity_id),
    unique (tenant_id, user_id, kind, canonical),
    foreign key (tenant_id, user_id) references users
);
create index entities_of_things on entities (tenant_id, user_id) where kind <> 'skill';
-- Skills that must be read. There are few, because their jobs run soon.
create index entities_unread on entities (tenant_id, user_id) where kind = 'skill' and read_by <= 0;
select app.protect('entities');
select app.open_to_system('entities');
grant select, insert, update, delete on entities to knowhow_tenant;
grant select (tenant_id, user_id, entity_id, kind, read_by) on entities to knowhow_system;

-- Further names of a thing, of the same kind.
create table entity_aliases (
    tenant_id uuid not null,
    user_id uuid not null,
    kind text not null,
    canonical text collate "C" not null,
    entity_id uuid not null,
    name text not null,
    primary key (tenant_id, user_id, kind, canonical),
    foreign key (tenant_id, user_id, entity_id) references entities on delete cascade
);
create index entity_aliases_of on entity_aliases (tenant_id, user_id, entity_id);
select app.protect('entity_aliases');
grant select, insert, update, delete on entity_aliases to knowhow_tenant;

-- A symmetric relation is stored from the lower id. `said_by` is the skill whose text states the relation: two texts may state the same,
-- and each takes back only its own statement.
create table relations (
    tenant_id uuid not null,
    user_id uuid not null,
    from_id uuid not null,
    to_id uuid not null,
    type text not null
        check (type in ('requires', 'complements', 'extends', 'often_used_with', 'enables', 'supersedes', 'see_also')),
    source text not null check (source in ('declared', 'extracted', 'computed')),
    strength real not null check (strength between 0 and 1),
    mentions integer not null check (mentions >= 1),
    confidence real not null check (confidence between 0 and 1),
    evidence text,
    reinforced_at timestamptz not null,
    said_by uuid not null,
    primary key (tenant_id, user_id, from_id, to_id, type, source, said_by),
    foreign key (tenant_id, user_id, from_id) references entities on delete cascade,
    foreign key (tenant_id, user_id, to_id) references entities on delete cascade,
    check (from_id <> to_id),
    check (said_by in (from_id, to_id)),
    check (type not in ('complements', 'often_used_with') or from_id < to_id),
    check ((type = 'often_used_with') = (source = 'computed'))
);
create index relations_to on relations (tenant_id, user_id, to_id);
select app.protect('relations');
grant select, insert, update, delete on relations to knowhow_tenant;

-- Relations without the statements of tainted texts about other skills. The view runs as its caller, so all policies apply.
create view trusted_relations with (security_invoker = true) as
select r.* from relations r
where not (r.source = 'extracted' and exists (
    select from skills k
    where k.tenant_id = r.tenant_id and k.user_id = r.user_id and k.skill_id = r.said_by and k.tainted));
grant select on trusted_relations to knowhow_tenant;

-- Relations that a skill's text states to a name that no skill has yet.
create table relation_hints (
    tenant_id uuid not null,
    user_id uuid not null,
    from_id uuid not null,
    to_name text collate "C" not null,
    type text not null,
    mentions integer not null,
    confidence real not null,
    evidence text,
    primary key (tenant_id, user_id, from_id, to_name, type),
    foreign key (tenant_id, user_id, from_id) references entities on delete cascade
);
create index relation_hints_to on relation_hints (tenant_id, user_id, to_name);
select app.protect('relation_hints');
grant select, insert, update, delete on relation_hints to knowhow_tenant;

-- The things that each memory names.
create table mentions (
    tenant_id uuid not null,
    user_id uuid not null,
    entity_id uuid not null,
    memory_id uuid not null,
    primary key (tenant_id, user_id, entity_id, memory_id),
    foreign key (tenant_id, user_id, entity_id) references entities on delete cascade,
    foreign key (tenant_id, user_id, memory_id) references memories on delete cascade
);
create index mentions_of_memory on mentions (tenant_id, user_id, memory_id) include (entity_id);
select app.protect('mentions');
grant select, insert, delete on mentions to knowhow_tenant;

-- The things that each skill's text names.
create table skill_mentions (
    tenant_id uuid not null,
    user_id uuid not null,
    skill_id uuid not null,
    entity_id uuid not null,
    primary key (tenant_id, user_id, skill_id, entity_id),
    foreign key (tenant_id, user_id, skill_id) references entities on delete cascade,
    foreign key (tenant_id, user_id, entity_id) references entities on delete cascade,
    check (skill_id <> entity_id)
);
create index skill_mentions_of_entity on skill_mentions (tenant_id, user_id, entity_id);
select app.protect('skill_mentions');
grant select, insert, delete on skill_mentions to knowhow_tenant;

-- Skills that a conversation loads or reports, until it has ended and a memory of it names them. The skills that its turns included are in
-- the session's own row.
create table pending_mentions (
    tenant_id uuid not null,
    user_id uuid not null,
    session_id uuid not null,
    skill_id uuid not null,
    primary key (tenant_id, user_id, session_id, skill_id),
    foreign key (tenant_id, user_id, session_id) references sessions on delete cascade
);
select app.protect('pending_mentions');
grant select, insert, delete on pending_mentions to knowhow_tenant;

-- The repairs of the reconciler, by day: skills that were missing in the graph, skills that should have been read and were not, and
-- entities of deleted skills.
create table reconciliations (
    day date primary key,
    indexed bigint not null default 0,
    reconciled bigint not null default 0,
    removed bigint not null default 0,
    last_at timestamptz not null
);
grant select, insert, update on reconciliations to knowhow_system;

reset role;
