set local role knowhow_owner;

-- A tenant's own library of starter skills, given to its users as the built-in ones are: by reference, text and vector once.
-- The built-in ones move into tables of that name; `starter_*` show both, the tenant's only to the tenant. Numbers of built-in
-- texts lie below 2^30, those of tenants' texts from there on.
alter table starter_texts rename to builtin_texts;
alter table starter_releases rename to builtin_releases;
alter table starter_vectors rename to builtin_vectors;

-- Rows of a tenant that its users may read, and only its admins or the system may write.
create function app.share_with_users(target regclass) returns void language plpgsql set search_path = pg_catalog as $$
begin
    execute format('create policy shared on %s for select to knowhow_tenant using (tenant_id = app.tenant_id())', target);
end $$;
revoke all on function app.share_with_users(regclass) from public;

-- The ids of the current texts of the tenant's library; null where it never had one.
alter table tenants add column library integer[];
grant update (library) on tenants to knowhow_admin;

-- Every version of every library skill. Nobody changes or removes one, so a reference stays good for ever.
create table library_texts (
    tenant_id uuid not null references tenants,
    starter_id integer generated always as identity (minvalue 1073741824),
    name text collate "C" not null,
    version integer not null,
    -- Who wrote it; for one that a user shared, also who let it in.
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
grant select (tenant_id, starter_id, name, description, triggers) on library_texts to knowhow_system;

-- One vector of each text by each model, for all users of the tenant.
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

-- What a tenant's users are given, by its digest: the library's texts, and the built-in ones whose names it leaves.
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

-- A reference is a foreign key still: into the built-in texts, or the tenant's own.
alter table skills
    add column builtin_id integer generated always as (case when starter_id < 1073741824 then starter_id end) stored,
    add column library_id integer generated always as (case when starter_id >= 1073741824 then starter_id end) stored,
    drop constraint skills_starter_id_name_fkey,
    add foreign key (builtin_id, name) references builtin_texts (starter_id, name),
    add foreign key (tenant_id, library_id, name) references library_texts (tenant_id, starter_id, name);
alter table skill_versions
    add column builtin_id integer generated always as (case when starter_id < 1073741824 then starter_id end) stored,
    add column library_id integer generated always as (case when starter_id >= 1073741824 then starter_id end) stored,
    drop constraint skill_versions_starter_id_fkey,
    add foreign key (builtin_id) references builtin_texts,
    add foreign key (tenant_id, library_id) references library_texts;

-- The same view, over both kinds of texts.
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
       t.attributes, 'starter', false, false, 0.7::real, 0.99::real,
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

-- What was given to a user and withdrawn by the tenant is forgotten, so that it may be given again. `offered_digest` is the
-- newer text that was last offered as a merge to who had changed theirs; a `document_digest` of no bytes says that
-- nothing was given, as the user had a skill of that name.
grant delete on starter_installs to knowhow_tenant;
alter table starter_installs add column offered_digest bytea;

alter table submissions
    drop constraint submissions_kind_check,
    add check (kind in ('save', 'patch', 'import', 'enrich', 'merge', 'optimize', 'rollback', 'sync', 'delete', 'share'));

reset role;
