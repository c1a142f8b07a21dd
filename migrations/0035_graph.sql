-- The graph: what skills, memories and the things that they name have to do with each other.
set local role knowhow_owner;

-- What memories speak of. The entity of a skill is the skill: it has its id, and goes with it. A starter that is lent has no
-- row of its own, but an id that it keeps when it gets one, so there is no foreign key.
create table entities (
    tenant_id uuid not null,
    user_id uuid not null,
    entity_id uuid not null,
    kind text not null
        check (kind in ('skill', 'person', 'organization', 'place', 'project', 'tool', 'topic', 'thing')),
    -- The name without case, hyphens and compatibility forms: two names of the same canonical form are the same thing.
    canonical text collate "C" not null,
    name text not null,
    -- Of a skill: the rules by which its text was read; 0 and below where it is to be read, one less with each reason for that.
    read_by integer not null default 0,
    tainted boolean not null default false,
    created_at timestamptz not null,
    primary key (tenant_id, user_id, entity_id),
    unique (tenant_id, user_id, kind, canonical),
    foreign key (tenant_id, user_id) references users
);
create index entities_of_things on entities (tenant_id, user_id) where kind <> 'skill';
-- Whose skills are to be read: few, as their jobs come soon.
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

-- A relation that says the same of both sides is kept from the lower id. `said_by` is the skill whose text says it: two texts
-- may say the same, and each takes back only what it said itself.
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

-- A relation that a skill's text says to a name that no skill has yet.
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

-- Which memory names which thing.
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

-- Which skill's text names which thing.
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

-- Skills that a conversation loads or reports, until it is over and a memory of it names them; those that its turns were given
-- are in its own row.
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
-- The conversation that a memory was made of when it was over.
alter table memories add column conversation uuid;
create unique index memories_of_conversation on memories (tenant_id, user_id, conversation) where conversation is not null;

-- The rules by which all skills of the user were read for relations; what changes since has a job of its own.
alter table user_catalogs add column related_rules integer not null default 0;
create index user_catalogs_by_related on user_catalogs (related_rules) where starters_at is null;

-- A rate or floor of a skill's own; null follows the tenant's. A base is from 0 to 1, and so is what it fades to.
alter table skills alter column decay_rate drop not null, alter column decay_rate drop default;
create or replace view skill_states with (security_invoker = true) as
select s.tenant_id, s.user_id, s.skill_id, s.name, coalesce(s.description, t.description) as description,
       coalesce(s.summary, t.summary) as summary, s.made_summary, coalesce(s.category, t.category) as category,
       coalesce(s.tags, t.tags) as tags, coalesce(s.triggers, t.triggers) as triggers,
       coalesce(s.see_also, t.see_also) as see_also, coalesce(s.role, t.role) as role,
       coalesce(s.attributes, t.attributes) as attributes, s.source, s.pinned, s.enriched, s.importance, s.decay_rate,
       s.version, coalesce(s.digest, t.digest) as digest, coalesce(s.document_digest, t.document_digest) as document_digest,
       coalesce(s.document_bytes, t.document_bytes) as document_bytes,
       coalesce(s.frontmatter_at_byte, t.frontmatter_at_byte) as frontmatter_at_byte,
       coalesce(s.frontmatter_end_at_byte, t.frontmatter_end_at_byte) as frontmatter_end_at_byte,
       coalesce(s.content_at_byte, t.content_at_byte) as content_at_byte, coalesce(s.resources, '[]') as resources,
       coalesce(s.resource_bytes, 0) as resource_bytes, s.created_at, s.updated_at,
       coalesce(s.frontmatter, t.frontmatter) as frontmatter, coalesce(r.content, t.document) as document, s.starter_id,
       false as lent, s.tainted
from skills s
left join starter_texts t on t.starter_id = s.starter_id
left join skill_resources r on r.tenant_id = s.tenant_id and r.user_id = s.user_id and r.digest = s.document_digest
union all
select c.tenant_id, c.user_id, starter_skill_id(c.user_id, t.name), t.name, t.description,
       t.summary, null, t.category,
       t.tags, t.triggers,
       t.see_also, t.role,
       t.attributes, 'starter', false, false, 0.7::real, null::real,
       1, t.digest, t.document_digest,
       t.document_bytes,
       t.frontmatter_at_byte,
       t.frontmatter_end_at_byte,
       t.content_at_byte, '[]',
       0, c.starters_at, c.starters_at,
       t.frontmatter, t.document, t.starter_id,
       true, false
from user_catalogs c
join starter_releases b on b.release = c.starters_release
join starter_texts t on t.starter_id = b.starter_id
where c.starters_at is not null;
alter table skills no force row level security;
update skills set decay_rate = null where decay_rate = 0.99::real;
alter table skills force row level security;
alter table skills
    add column importance_floor real check (importance_floor between 0 and 1),
    add check (importance between 0 and 1),
    add check (decay_rate between 0 and 1);

-- When it was said how a use turned out, which may be long after it.
alter table usage_events add column outcome_at timestamptz;

-- What the reconciler has repaired, by day: skills that were not in the graph, that were to be read and were forgotten, and
-- entities whose skills are gone.
create table reconciliations (
    day date primary key,
    indexed bigint not null default 0,
    reconciled bigint not null default 0,
    removed bigint not null default 0,
    last_at timestamptz not null
);
grant select, insert, update on reconciliations to knowhow_system;

reset role;
