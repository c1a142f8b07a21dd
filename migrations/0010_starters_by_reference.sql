set local role knowhow_owner;

-- The built-in skills, in every text that a release of the binary brought. The binary holds them, so they are no tenant's
-- rows and nothing of them is to be hidden: there is no tenant_id. Only the system role adds to them and nobody changes or
-- removes one, so a reference stays good for ever. (A library of a tenant's own would be another table, with tenant_id.)
create table starter_texts (
    starter_id integer generated always as identity primary key,
    name text collate "C" not null,
    description text not null,
    summary text,
    category text,
    tags text[] not null,
    triggers text[] not null,
    see_also text[] not null,
    role text,
    attributes jsonb not null,
    frontmatter jsonb not null,
    digest bytea not null,
    document_digest bytea not null check (document_digest = sha256(document)),
    document bytea not null,
    document_bytes integer not null,
    frontmatter_at_byte integer not null,
    frontmatter_end_at_byte integer not null,
    content_at_byte integer not null,
    unique (name, document_digest),
    unique (starter_id, name)
) with (toast_tuple_target = 8160);

-- Which texts make a release, by its digest.
create table starter_releases (
    release bytea not null,
    starter_id integer not null references starter_texts,
    primary key (release, starter_id)
);

-- One vector of each text by each model, for all users.
create table starter_vectors (
    starter_id integer not null references starter_texts,
    model text not null,
    text_digest bytea not null,
    embedding halfvec not null,
    primary key (starter_id, model)
);
grant select on starter_texts, starter_releases, starter_vectors to knowhow_tenant, knowhow_admin;
grant select, insert on starter_texts, starter_releases, starter_vectors to knowhow_system;

-- When the user was lent the starters of starters_release, as long as there are no rows of theirs. The first use or change of
-- a skill makes them, or a later release with other starters (store/src/starters.rs).
alter table user_catalogs
    add column starters_at timestamptz,
    add check (starters_at is null or starters_release is not null);
-- Half of each page was left free for the updates of one row for each starter. Now a user who only reads has one update,
-- and a fifth keeps all of them HOT.
alter table user_catalogs set (fillfactor = 80);

-- A starter that its user has not changed has no text of its own: starter_id says where it is.
alter table skills
    add column starter_id integer,
    alter column description drop not null,
    alter column tags drop not null,
    alter column triggers drop not null,
    alter column see_also drop not null,
    alter column attributes drop not null,
    alter column digest drop not null,
    alter column document_digest drop not null,
    alter column document_bytes drop not null,
    alter column frontmatter_at_byte drop not null,
    alter column frontmatter_end_at_byte drop not null,
    alter column content_at_byte drop not null,
    alter column resources drop not null,
    alter column resource_bytes drop not null;
alter table skill_versions
    add column starter_id integer references starter_texts,
    alter column document_digest drop not null;
grant select (starter_id) on skills to knowhow_system;

-- Users of before: what was installed and is unchanged becomes a reference. The policies admit nobody to rows of all users,
-- not even the owner, so they are not forced upon it until the end of this transaction.
alter table skills no force row level security;
alter table skill_versions no force row level security;
alter table skill_resources no force row level security;
alter table skill_embeddings no force row level security;
alter table starter_installs no force row level security;
alter table archived_skills no force row level security;

insert into starter_texts (name, description, summary, category, tags, triggers, see_also, role, attributes, frontmatter,
    digest, document_digest, document, document_bytes, frontmatter_at_byte, frontmatter_end_at_byte, content_at_byte)
select distinct on (s.name, s.document_digest)
       s.name, s.description, s.summary, s.category, s.tags, s.triggers, s.see_also, s.role, s.attributes, s.frontmatter,
       s.digest, s.document_digest, r.content, s.document_bytes, s.frontmatter_at_byte, s.frontmatter_end_at_byte,
       s.content_at_byte
from skills s
join starter_installs i on i.tenant_id = s.tenant_id and i.user_id = s.user_id and i.name = s.name
    and i.document_digest = s.document_digest
join skill_resources r on r.tenant_id = s.tenant_id and r.user_id = s.user_id and r.digest = s.document_digest
where s.source = 'starter' and s.resources = '[]' and s.frontmatter is not null and sha256(r.content) = s.document_digest
order by s.name, s.document_digest, s.updated_at desc;

update skills s
set starter_id = t.starter_id, description = null, summary = null, made_summary = null, category = null, tags = null,
    triggers = null, see_also = null, role = null, attributes = null, frontmatter = null, digest = null,
    document_digest = null, document_bytes = null, frontmatter_at_byte = null, frontmatter_end_at_byte = null,
    content_at_byte = null, resources = null, resource_bytes = null
from starter_texts t, starter_installs i
where t.name = s.name and t.document_digest = s.document_digest and s.source = 'starter' and s.resources = '[]'
  and i.tenant_id = s.tenant_id and i.user_id = s.user_id and i.name = s.name and i.document_digest = s.document_digest;

-- Older versions are references too where their text is one. The current version of a skill with a text of its own is not:
-- skill and version share the file.
update skill_versions v set starter_id = t.starter_id, document_digest = null
from skills s, starter_texts t
where s.tenant_id = v.tenant_id and s.user_id = v.user_id and s.skill_id = v.skill_id and s.source = 'starter'
  and t.name = s.name and t.document_digest = v.document_digest and v.resources = '[]'
  and (s.starter_id is not null or v.version <> s.version);

-- Their vectors are made once more, for all; the texts go where nothing of the user's refers to them any more.
delete from skill_embeddings e using skills s
where s.tenant_id = e.tenant_id and s.user_id = e.user_id and s.skill_id = e.skill_id and s.starter_id is not null;

delete from skill_resources r
using (
    select distinct v.tenant_id, v.user_id, t.document_digest as digest
    from skill_versions v join starter_texts t on t.starter_id = v.starter_id
) g
where r.tenant_id = g.tenant_id and r.user_id = g.user_id and r.digest = g.digest
  and not exists (select from skill_versions v
                  where v.tenant_id = r.tenant_id and v.user_id = r.user_id and v.document_digest = r.digest)
  and not exists (select from skill_versions v, jsonb_array_elements(v.resources) e
                  where v.tenant_id = r.tenant_id and v.user_id = r.user_id and e ->> 'digest' = encode(r.digest, 'hex'))
  and not exists (select from archived_skills a
                  where a.tenant_id = r.tenant_id and a.user_id = r.user_id and r.digest = any (a.digests));

alter table skills force row level security;
alter table skill_versions force row level security;
alter table skill_resources force row level security;
alter table skill_embeddings force row level security;
alter table starter_installs force row level security;
alter table archived_skills force row level security;

-- A skill has a text of its own or refers to a starter of its name, wholly.
alter table skills
    add foreign key (starter_id, name) references starter_texts (starter_id, name),
    add constraint skills_text_or_reference check (
        case when starter_id is null
        then num_nulls(description, tags, triggers, see_also, attributes, digest, document_digest, document_bytes,
                       frontmatter_at_byte, frontmatter_end_at_byte, content_at_byte, resources, resource_bytes) = 0
        else num_nonnulls(description, summary, made_summary, category, tags, triggers, see_also, role, attributes,
                          frontmatter, digest, document_digest, document_bytes, frontmatter_at_byte,
                          frontmatter_end_at_byte, content_at_byte, resources, resource_bytes) = 0 end);
alter table skill_versions
    add constraint skill_versions_text_or_reference check (num_nonnulls(document_digest, starter_id) = 1);

-- The id that a lent starter has and keeps. A UUID of version 8 (RFC 9562, 5.8), which the service takes for no time.
create function starter_skill_id(owner uuid, name text) returns uuid
language sql immutable strict parallel safe
return overlay(overlay(md5(owner::text || ' ' || name) placing '8' from 13) placing '8' from 17)::uuid;
grant execute on function starter_skill_id to knowhow_tenant, knowhow_admin;

-- Every skill as it reads, wherever its text is: the user's own, a reference, or lent (`lent`, without a row). It runs as
-- whoever asks (security_invoker), so all policies hold. Who pages through many by name reads the tables: an ordered scan
-- does not reach through the union.
-- A lent skill is what the row that is made of it will be: its id follows from user and name, and it stays version 1.
create view skill_states with (security_invoker = true) as
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
       false as lent
from skills s
left join starter_texts t on t.starter_id = s.starter_id
left join skill_resources r on r.tenant_id = s.tenant_id and r.user_id = s.user_id and r.digest = s.document_digest
union all
select c.tenant_id, c.user_id, starter_skill_id(c.user_id, t.name), t.name, t.description,
       t.summary, null, t.category,
       t.tags, t.triggers,
       t.see_also, t.role,
       t.attributes, 'starter', false, false, 0.7::real, 0.99::real,
       1, t.digest, t.document_digest,
       t.document_bytes,
       t.frontmatter_at_byte,
       t.frontmatter_end_at_byte,
       t.content_at_byte, '[]',
       0, c.starters_at, c.starters_at,
       t.frontmatter, t.document, t.starter_id,
       true
from user_catalogs c
join starter_releases b on b.release = c.starters_release
join starter_texts t on t.starter_id = b.starter_id
where c.starters_at is not null;
grant select on skill_states to knowhow_tenant, knowhow_admin;

reset role;
