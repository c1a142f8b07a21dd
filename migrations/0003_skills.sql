-- Skills: the texts of starters, a user's skills with their versions and files, and the archive.
set local role knowhow_owner;

-- STARTERS

-- Starter skills are given to users by reference: the text and its vectors are stored once. There are built-in starters and those of a
-- tenant's own library. Ids of built-in texts are below 2^30, ids of library texts from 2^30 on.

-- The built-in skills, in every text that a release of the program had. The program contains them, so they belong to no tenant, hold no
-- secret, and have no `tenant_id`. Only the system role adds texts. No role changes or deletes one, so a reference is valid for ever.
create table builtin_texts (
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

-- The texts of a release, which is identified by its digest.
create table builtin_releases (
    release bytea not null,
    starter_id integer not null references builtin_texts,
    primary key (release, starter_id)
);

-- The vector of each text by each model, for all users.
create table builtin_vectors (
    starter_id integer not null references builtin_texts,
    model text not null,
    text_digest bytea not null,
    embedding halfvec not null,
    primary key (starter_id, model)
);
grant select on builtin_texts, builtin_releases, builtin_vectors to knowhow_tenant, knowhow_admin;
grant select, insert on builtin_texts, builtin_releases, builtin_vectors to knowhow_system;

-- Every version of every skill in a tenant's library. No role changes or deletes one, so a reference is valid for ever.
create table library_texts (
    tenant_id uuid not null references tenants,
    starter_id integer generated always as identity (minvalue 1073741824),
    name text collate "C" not null,
    version integer not null,
    -- The author. For a text that a user shared, `approved_by` is the reviewer.
    actor text not null,
    approved_by text,
    created_at timestamptz not null,
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
    primary key (tenant_id, starter_id),
    unique (tenant_id, starter_id, name),
    unique (tenant_id, name, version)
) with (toast_tuple_target = 8160);
select app.protect('library_texts');
select app.share_with_users('library_texts');
select app.open_to_system('library_texts');
grant select on library_texts to knowhow_tenant;
grant select, insert on library_texts to knowhow_admin;
grant select (tenant_id, starter_id, name, description, triggers, version, document) on library_texts to knowhow_system;

-- The vector of each text by each model, for all users of the tenant.
create table library_vectors (
    tenant_id uuid not null,
    starter_id integer not null,
    model text not null,
    text_digest bytea not null,
    embedding halfvec not null,
    primary key (tenant_id, starter_id, model),
    foreign key (tenant_id, starter_id) references library_texts
);
select app.protect('library_vectors');
select app.share_with_users('library_vectors');
select app.open_to_system('library_vectors');
grant select on library_vectors to knowhow_tenant, knowhow_admin;
grant select, insert on library_vectors to knowhow_system;

-- The starters that a tenant's users are given, by a digest of the list: the texts of the library, and the built-in texts with other
-- names.
create table library_releases (
    tenant_id uuid not null references tenants,
    release bytea not null,
    starter_ids integer[] not null,
    primary key (tenant_id, release)
);
select app.protect('library_releases');
select app.share_with_users('library_releases');
select app.open_to_system('library_releases');
grant select on library_releases to knowhow_tenant, knowhow_admin;
grant select, insert on library_releases to knowhow_system;

-- The built-in starters and those of the tenant's library together. The views run as their caller (security_invoker), so all policies
-- apply.
create view starter_texts with (security_invoker = true) as
select starter_id, name, description, summary, category, tags, triggers, see_also, role, attributes, frontmatter, digest,
       document_digest, document, document_bytes, frontmatter_at_byte, frontmatter_end_at_byte, content_at_byte
from builtin_texts
union all
select starter_id, name, description, summary, category, tags, triggers, see_also, role, attributes, frontmatter, digest,
       document_digest, document, document_bytes, frontmatter_at_byte, frontmatter_end_at_byte, content_at_byte
from library_texts;
create view starter_releases with (security_invoker = true) as
select release, starter_id from builtin_releases
union all
select l.release, i.starter_id from library_releases l cross join lateral unnest(l.starter_ids) as i (starter_id);
create view starter_vectors with (security_invoker = true) as
select starter_id, model, text_digest, embedding from builtin_vectors
union all
select starter_id, model, text_digest, embedding from library_vectors;
grant select on starter_texts, starter_releases, starter_vectors to knowhow_tenant, knowhow_admin;

-- The starters that a user was given. So a new release changes only texts that the user has not changed, and never brings back a skill
-- that the user deleted. When the tenant withdraws a text, the row is deleted, so that the skill can be given again.
create table starter_installs (
    tenant_id uuid not null,
    user_id uuid not null,
    name text collate "C" not null,
    -- Empty if the starter was not given, because the user had a skill of this name.
    document_digest bytea not null,
    installed_at timestamptz not null,
    -- The newer text that a user who had changed the skill was last offered as a merge.
    offered_digest bytea,
    primary key (tenant_id, user_id, name),
    foreign key (tenant_id, user_id) references users
);
select app.protect('starter_installs');
grant select, insert, update on starter_installs to knowhow_tenant, knowhow_admin;
grant delete on starter_installs to knowhow_tenant;

-- The id of a lent starter, which it keeps when it gets a row: a UUID of version 8 (RFC 9562, 5.8). The service reads no time from it.
create function starter_skill_id(owner uuid, name text) returns uuid
language sql immutable strict parallel safe
return overlay(overlay(md5(owner::text || ' ' || name) placing '8' from 13) placing '8' from 17)::uuid;
grant execute on function starter_skill_id to knowhow_tenant, knowhow_admin;

-- SKILLS

-- Every file of every version, SKILL.md included, stored once per user by its SHA-256. So a version costs only the files that changed.
-- Files of up to 8 kB stay in the row, uncompressed: then a load of a skill is one index probe and one heap page.
create table skill_resources (
    tenant_id uuid not null,
    user_id uuid not null,
    digest bytea not null check (length(digest) = 32),
    content bytea not null,
    -- The size of the row, for the system role, which deletes files and may not read any text.
    bytes integer generated always as (octet_length(content)) stored,
    primary key (tenant_id, user_id, digest),
    foreign key (tenant_id, user_id) references users
) with (toast_tuple_target = 8160);
select app.protect('skill_resources');
alter table skill_resources alter column user_id set (n_distinct = -0.02);
select app.open_to_system('skill_resources');
grant select, insert, delete on skill_resources to knowhow_tenant, knowhow_admin;
grant select (tenant_id, user_id, digest, bytes), delete on skill_resources to knowhow_system;

-- The current state of each skill, without its text. The *_at_byte columns split the stored SKILL.md into frontmatter and body, so that
-- a read never parses it. A starter that its user has not changed has no text of its own: all columns of the text are null, and
-- `starter_id` refers to the starter.
create table skills (
    tenant_id uuid not null,
    user_id uuid not null,
    skill_id uuid not null,
    name text collate "C" not null,
    description text,
    summary text,
    category text,
    tags text[],
    triggers text[],
    see_also text[],
    role text,
    attributes jsonb,
    source text not null check (source in ('agent', 'user', 'import', 'sync', 'starter', 'dream', 'reflection')),
    pinned boolean not null default false,
    enriched boolean not null default false,
    importance real not null default 0.7 check (importance between 0 and 1),
    -- The skill's own rate and floor; null means the tenant's.
    decay_rate real check (decay_rate between 0 and 1),
    version integer not null check (version >= 1),
    digest bytea,
    document_digest bytea,
    document_bytes integer,
    frontmatter_at_byte integer,
    frontmatter_end_at_byte integer,
    content_at_byte integer,
    resources jsonb,
    resource_bytes integer,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    -- The frontmatter as JSON, for hosts that list skills over MCP. It is written with the text, so that a list reads no file. Null if the
    -- stored file lacks a key that hosts require: then each read derives the served frontmatter from the file.
    frontmatter jsonb,
    -- The index line that a model wrote because the author gave none. It is not part of the text, so it makes no version.
    made_summary text,
    starter_id integer,
    -- The taint of the current version, for the index and recall.
    tainted boolean not null default false,
    -- The reference as foreign keys: to a built-in text, or to one of the tenant's library.
    builtin_id integer generated always as (case when starter_id < 1073741824 then starter_id end) stored,
    library_id integer generated always as (case when starter_id >= 1073741824 then starter_id end) stored,
    importance_floor real check (importance_floor between 0 and 1),
    -- The part that the author's text lacks: 2 for a description of more than 30 characters, 1 for triggers alone, 0 for neither. It is 0
    -- for a starter, because its text belongs to all users.
    lacks smallint not null generated always as (
        case when char_length(description) <= 30 then 2 when triggers = '{}' then 1 else 0 end) stored,
    -- Search terms that enrichment generated, in addition to the author's own. They are deleted when the text changes.
    made_description text,
    made_triggers text[] not null default '{}',
    -- The generator of these terms. It is also set if it could generate no term.
    made_by text check (made_by in ('model', 'extract')),
    -- The number of failed attempts and of versions made for the author's description and triggers, and the digest of these.
    enrich_tries integer not null default 0,
    enrich_of bytea,
    primary key (tenant_id, user_id, skill_id),
    unique (tenant_id, user_id, name),
    foreign key (tenant_id, user_id) references users,
    foreign key (builtin_id, name) references builtin_texts (starter_id, name),
    foreign key (tenant_id, library_id, name) references library_texts (tenant_id, starter_id, name),
    -- A skill has a text of its own, or refers to a starter of its name for all of it.
    constraint skills_text_or_reference check (
        case when starter_id is null
        then num_nulls(description, tags, triggers, see_also, attributes, digest, document_digest, document_bytes,
                       frontmatter_at_byte, frontmatter_end_at_byte, content_at_byte, resources, resource_bytes) = 0
        else num_nonnulls(description, summary, made_summary, category, tags, triggers, see_also, role, attributes,
                          frontmatter, digest, document_digest, document_bytes, frontmatter_at_byte,
                          frontmatter_end_at_byte, content_at_byte, resources, resource_bytes) = 0 end)
) with (fillfactor = 85);
create index skills_tainted on skills (tenant_id, user_id, skill_id) where tainted;
-- A skill is also found by the name in its frontmatter, if that is a different one. Most skills have none.
create index skills_by_alias on skills (tenant_id, user_id, (attributes ->> 'alias')) where attributes ? 'alias';
create statistics skills_of_owner (ndistinct, dependencies) on tenant_id, user_id from skills;
select app.protect('skills');
-- While most users are new, the statistics show about one row for each. But plans are kept for all users, and must suit users with many
-- rows. So this makes Postgres expect fifty rows of each user. Other tables that grow with use have the same setting.
alter table skills alter column user_id set (n_distinct = -0.02);
select app.open_to_system('skills');
grant select, insert, update, delete on skills to knowhow_tenant, knowhow_admin;
grant select (tenant_id, user_id, skill_id, starter_id, digest, lacks, made_by, enrich_tries) on skills to knowhow_system;

-- The history of skills. There is no foreign key to skills: the versions of a deleted skill stay, so that a skill with any number of
-- versions is deleted at once. No statement finds versions without a row in `skills` or in the archive.
create table skill_versions (
    tenant_id uuid not null,
    user_id uuid not null,
    skill_id uuid not null,
    version integer not null,
    change text not null
        check (change in ('save', 'patch', 'import', 'enrich', 'merge', 'optimize', 'rollback', 'sync')),
    actor text not null,
    session text,
    -- A version is tainted while any of its text comes from a tainted version and no person has approved it. `tainted_in` has the sessions
    -- that brought the taint, `tainted_by` the sources that these had read. Later versions inherit both.
    tainted boolean not null default false,
    request_digest bytea,
    digest bytea not null,
    document_digest bytea,
    document_bytes integer not null,
    resources jsonb not null,
    created_at timestamptz not null,
    starter_id integer,
    tainted_in text[],
    tainted_by text[],
    -- Whether the version was made by a change of the version before it, and so has its text; null if unknown.
    derived boolean,
    approved_by text,
    approved_at timestamptz,
    -- The size of the row, for the system role, which deletes versions and may not read any text.
    bytes integer generated always as (
        300 + octet_length(resources::text) + octet_length(actor) + coalesce(octet_length(session), 0)) stored,
    builtin_id integer generated always as (case when starter_id < 1073741824 then starter_id end) stored,
    library_id integer generated always as (case when starter_id >= 1073741824 then starter_id end) stored,
    primary key (tenant_id, user_id, skill_id, version),
    foreign key (tenant_id, user_id, document_digest) references skill_resources (tenant_id, user_id, digest),
    foreign key (builtin_id) references builtin_texts,
    foreign key (tenant_id, library_id) references library_texts,
    constraint skill_versions_text_or_reference check (num_nonnulls(document_digest, starter_id) = 1)
);
-- Without this index the deletion of a file would look for it in all versions of its user. The index begins with the digest, because the
-- policies repeat the conditions on tenant and user. While it has no statistics, Postgres would take any index that begins with tenant
-- and user for as good as the primary key. For the last condition see user_catalogs.
create index skill_versions_of_document on skill_versions (document_digest, user_id, tenant_id) where document_digest is not null;
-- Versions that learning made, and skills that another skill was merged into. There are few.
create index skill_versions_learned on skill_versions (tenant_id, user_id, skill_id) where change = 'merge' or actor = 'dream';
select app.protect('skill_versions');
alter table skill_versions alter column user_id set (n_distinct = -0.02);
select app.open_to_system('skill_versions');
grant select, insert, update (tainted, tainted_in, tainted_by), delete on skill_versions to knowhow_tenant, knowhow_admin;
-- A reviewer approves a version, and a version that comes from an approved submission is approved as it is written.
grant update (approved_by, approved_at) on skill_versions to knowhow_tenant, knowhow_admin;
grant select (tenant_id, user_id, skill_id, version, document_digest, resources, bytes), delete on skill_versions to knowhow_system;

-- The files, other than SKILL.md, in the history of each skill, with the last version that has the file: 2147483647 if the current
-- version has it. So a save writes only its changes, and one index probe finds whether a file is in use. A skill's versions are
-- deleted from the oldest on, so a file is unused once the last version that has it is deleted.
create table skill_files (
    tenant_id uuid not null,
    user_id uuid not null,
    digest bytea not null,
    skill_id uuid not null,
    last_version integer not null,
    primary key (tenant_id, user_id, digest, skill_id),
    foreign key (tenant_id, user_id, digest) references skill_resources
);
create index skill_files_of_skill on skill_files (tenant_id, user_id, skill_id, last_version);
select app.protect('skill_files');
alter table skill_files alter column user_id set (n_distinct = -0.02);
select app.open_to_system('skill_files');
grant select, insert, update, delete on skill_files to knowhow_tenant, knowhow_admin;
grant select, delete on skill_files to knowhow_system;

-- The names of skills that another skill absorbed. A request for such a name gets the successor.
create table skill_redirects (
    tenant_id uuid not null,
    user_id uuid not null,
    name text collate "C" not null,
    skill_id uuid not null,
    created_at timestamptz not null,
    primary key (tenant_id, user_id, name),
    foreign key (tenant_id, user_id, skill_id) references skills on delete cascade
);
create index skill_redirects_to on skill_redirects (skill_id, user_id, tenant_id) where skill_id is not null;
select app.protect('skill_redirects');
alter table skill_redirects alter column user_id set (n_distinct = -0.02);
grant select, insert, update, delete on skill_redirects to knowhow_tenant, knowhow_admin;

-- Every skill with its text, wherever that is: the user's own, a reference, or a lent starter (`lent`), which has no row. The view runs
-- as its caller (security_invoker), so all policies apply. Statements that page through many skills by name read the tables instead,
-- because an ordered scan cannot reach through the union.
-- A lent skill has the values that its row will have: its id follows from user and name, and its version stays 1.
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
       false as lent, s.tainted, s.made_description, s.made_triggers, s.made_by
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
       true, false, null, '{}', null
from user_catalogs c
join starter_releases b on b.release = c.starters_release
join starter_texts t on t.starter_id = b.starter_id
where c.starters_at is not null;
grant select on skill_states to knowhow_tenant, knowhow_admin;

-- THE ARCHIVE

-- Deleted skills: `state` is the row of `skills`. Versions and files stay in their tables. A user's transactions can add an entry. Of
-- entries they can read only when these expire and how large they are, so that the oldest can be deleted.
create table archived_skills (
    tenant_id uuid not null,
    user_id uuid not null,
    archive_id uuid not null,
    skill_id uuid not null,
    name text collate "C" not null,
    state jsonb not null,
    absorbed_into text,
    deleted_by text not null,
    deleted_at timestamptz not null,
    purge_at timestamptz not null,
    version integer not null,
    version_count integer not null,
    bytes integer generated always as (500 + octet_length(state::text)) stored,
    primary key (tenant_id, user_id, archive_id),
    foreign key (tenant_id, user_id) references users
);
create index archived_skills_by_age on archived_skills (purge_at);
create index archived_skills_of_tenant on archived_skills (tenant_id, archive_id);
select app.protect('archived_skills');
select app.open_to_system('archived_skills');
grant select (tenant_id, user_id, archive_id, skill_id, version, purge_at, bytes), insert, update (purge_at), delete
    on archived_skills to knowhow_tenant;
grant select, insert, update (purge_at), delete on archived_skills to knowhow_admin;
grant select (tenant_id, user_id, archive_id, skill_id, purge_at, bytes), delete on archived_skills to knowhow_system;

-- Deletes the versions of skills up to one of each, and the files that are then unused; returns the number of files. The caller has locked
-- the user's catalogue row, so a writer that is about to use such a file again waits.
create function app.forget_versions(of_tenant uuid, of_user uuid, skills uuid[], up_to integer[]) returns integer
language plpgsql set search_path = pg_catalog, public as $$
declare
    unused bytea[];
    freed bigint;
    freed_files bigint;
    files integer;
begin
    with versions as (
        delete from skill_versions v using unnest(skills, up_to) as g (skill_id, version)
        where v.tenant_id = of_tenant and v.user_id = of_user and v.skill_id = g.skill_id and v.version <= g.version
        returning v.document_digest as digest, v.bytes
    ), others as (
        delete from skill_files f using unnest(skills, up_to) as g (skill_id, version)
        where f.tenant_id = of_tenant and f.user_id = of_user and f.skill_id = g.skill_id and f.last_version <= g.version
        returning f.digest
    )
    select coalesce((select sum(v.bytes) from versions v), 0),
           array(select v.digest from versions v where v.digest is not null union select o.digest from others o)
    into freed, unused;
    with gone as (
        delete from skill_resources r using unnest(unused) as u (digest)
        where r.tenant_id = of_tenant and r.user_id = of_user and r.digest = u.digest
          and not exists (select from skill_versions v
                          where v.tenant_id = of_tenant and v.user_id = of_user and v.document_digest = r.digest)
          and not exists (select from skill_files f
                          where f.tenant_id = of_tenant and f.user_id = of_user and f.digest = r.digest)
        returning r.bytes
    )
    select count(*), coalesce(sum(g.bytes), 0) into files, freed_files from gone g;
    update user_catalogs c set stored_bytes = c.stored_bytes - freed - freed_files
    where c.tenant_id = of_tenant and c.user_id = of_user;
    return files;
end $$;

-- Runs one step of the final deletion of archived skills: at most `step` versions of the entry that expired first. `finished` is true if
-- these were the last ones, and null if no entry has expired. The caller has locked the user's catalogue row.
create function app.clear_deleted(of_tenant uuid, of_user uuid, due timestamptz, step integer,
    out finished boolean, out files integer)
language plpgsql set search_path = pg_catalog, public as $$
declare
    entry record;
    oldest record;
begin
    select a.archive_id, a.skill_id, a.bytes into entry from archived_skills a
    where a.tenant_id = of_tenant and a.user_id = of_user and a.purge_at <= due
    order by a.purge_at, a.archive_id limit 1;
    if not found then
        return;
    end if;
    select count(*) as versions, max(o.version) as last into oldest from (
        select v.version from skill_versions v
        where v.tenant_id = of_tenant and v.user_id = of_user and v.skill_id = entry.skill_id
        order by v.version limit step) o;
    finished := oldest.versions < step;
    files := app.forget_versions(of_tenant, of_user, array[entry.skill_id],
                                 array[case when finished then 2147483647 else oldest.last end]);
    if finished then
        delete from archived_skills a
        where a.tenant_id = of_tenant and a.user_id = of_user and a.archive_id = entry.archive_id;
        update user_catalogs c set stored_bytes = c.stored_bytes - entry.bytes
        where c.tenant_id = of_tenant and c.user_id = of_user;
    end if;
end $$;
revoke all on function app.forget_versions(uuid, uuid, uuid[], integer[]),
    app.clear_deleted(uuid, uuid, timestamptz, integer) from public;
grant execute on function app.forget_versions(uuid, uuid, uuid[], integer[]),
    app.clear_deleted(uuid, uuid, timestamptz, integer) to knowhow_tenant, knowhow_admin, knowhow_system;

-- Restores a deleted skill of the caller's user as it was, under its own name or another.
create function app.put_back(state jsonb, as_name text) returns setof skills language sql
set search_path = pg_catalog, public as $$
    insert into skills (tenant_id, user_id, skill_id, name, description, summary, category, tags, triggers, see_also, role,
        attributes, source, pinned, enriched, importance, decay_rate, importance_floor, version, digest, document_digest,
        document_bytes, frontmatter_at_byte, frontmatter_end_at_byte, content_at_byte, resources, resource_bytes,
        created_at, updated_at, frontmatter, made_summary, starter_id, tainted, made_description, made_triggers, made_by,
        enrich_tries, enrich_of)
    select s.tenant_id, s.user_id, s.skill_id, coalesce(as_name, s.name), s.description, s.summary, s.category, s.tags,
           s.triggers, s.see_also, s.role, s.attributes, s.source, s.pinned, s.enriched, s.importance, s.decay_rate,
           s.importance_floor, s.version, s.digest, s.document_digest, s.document_bytes, s.frontmatter_at_byte,
           s.frontmatter_end_at_byte, s.content_at_byte, s.resources, s.resource_bytes, s.created_at, s.updated_at,
           -- Under another name it is served with the new name in its text.
           case when coalesce(as_name, s.name) = s.name then s.frontmatter end, s.made_summary, s.starter_id, s.tainted, s.made_description, s.made_triggers, s.made_by,
           s.enrich_tries, s.enrich_of
    from jsonb_populate_record(
        null::skills, jsonb_build_object('tainted', false, 'made_triggers', '[]'::jsonb, 'enrich_tries', 0) || state) s
    where s.tenant_id = app.tenant_id() and s.user_id = app.user_id()
    returning *
$$;
revoke all on function app.put_back(jsonb, text) from public;
grant execute on function app.put_back(jsonb, text) to knowhow_tenant, knowhow_admin;

reset role;
