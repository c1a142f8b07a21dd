set local role knowhow_owner;

-- Every file of every version, SKILL.md included, stored once per user by its SHA-256: a version costs what changed.
-- Files of up to 8 kB stay in the row, uncompressed: loading a skill is then one index probe and one heap page.
create table skill_resources (
    tenant_id uuid not null,
    user_id uuid not null,
    digest bytea not null check (length(digest) = 32),
    content bytea not null,
    primary key (tenant_id, user_id, digest),
    foreign key (tenant_id, user_id) references users
) with (toast_tuple_target = 8160);
select app.protect('skill_resources');
select app.open_to_system('skill_resources');
grant select, insert, delete on skill_resources to knowhow_tenant, knowhow_admin;
grant select (tenant_id, user_id, digest), delete on skill_resources to knowhow_system;

-- The current state, without its text. The *_at_byte columns cut the stored SKILL.md into frontmatter and body, so
-- that reading never parses.
create table skills (
    tenant_id uuid not null,
    user_id uuid not null,
    skill_id uuid not null,
    name text collate "C" not null,
    description text not null,
    summary text,
    category text,
    tags text[] not null,
    triggers text[] not null,
    see_also text[] not null,
    role text,
    attributes jsonb not null,
    source text not null check (source in ('agent', 'user', 'import', 'sync', 'starter', 'dream', 'reflection')),
    pinned boolean not null default false,
    enriched boolean not null default false,
    importance real not null default 0.7,
    decay_rate real not null default 0.99,
    version integer not null check (version >= 1),
    digest bytea not null,
    document_digest bytea not null,
    document_bytes integer not null,
    frontmatter_at_byte integer not null,
    frontmatter_end_at_byte integer not null,
    content_at_byte integer not null,
    resources jsonb not null,
    resource_bytes integer not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (tenant_id, user_id, skill_id),
    unique (tenant_id, user_id, name),
    foreign key (tenant_id, user_id) references users
) with (fillfactor = 85);
select app.protect('skills');
grant select, insert, update, delete on skills to knowhow_tenant, knowhow_admin;

create table skill_versions (
    tenant_id uuid not null,
    user_id uuid not null,
    skill_id uuid not null,
    version integer not null,
    change text not null
        check (change in ('save', 'patch', 'import', 'enrich', 'merge', 'optimize', 'rollback', 'sync')),
    actor text not null,
    session text,
    tainted boolean not null default false,
    request_digest bytea,
    digest bytea not null,
    document_digest bytea not null,
    document_bytes integer not null,
    resources jsonb not null,
    created_at timestamptz not null,
    primary key (tenant_id, user_id, skill_id, version),
    foreign key (tenant_id, user_id, skill_id) references skills on delete cascade,
    foreign key (tenant_id, user_id, document_digest) references skill_resources (tenant_id, user_id, digest)
);
-- Without it every file that is cleared up would be looked for in all versions of its owner.
create index skill_versions_of_document on skill_versions (tenant_id, user_id, document_digest);
select app.protect('skill_versions');
select app.open_to_system('skill_versions');
grant select, insert on skill_versions to knowhow_tenant, knowhow_admin;
grant select (tenant_id, user_id, document_digest, resources) on skill_versions to knowhow_system;

-- Counters apart from the text, no index on them: every count is a HOT update of a few bytes.
create table skill_usage (
    tenant_id uuid not null,
    user_id uuid not null,
    skill_id uuid not null,
    times_used bigint not null default 0,
    last_used_at timestamptz,
    successes bigint not null default 0,
    failures bigint not null default 0,
    partials bigint not null default 0,
    primary key (tenant_id, user_id, skill_id),
    foreign key (tenant_id, user_id, skill_id) references skills on delete cascade
) with (fillfactor = 80);
select app.protect('skill_usage');
grant select, insert, update, delete on skill_usage to knowhow_tenant, knowhow_admin;

-- No foreign key to skills: its check would lock, and so rewrite, the skill's row at every load. Deleting a skill
-- deletes its events by name of the key.
create table usage_events (
    tenant_id uuid not null,
    user_id uuid not null,
    event_id uuid not null,
    skill_id uuid not null,
    version integer not null,
    kind text not null check (kind in ('view', 'used')),
    session_key text,
    memory_id text,
    project text,
    runtime_path text,
    outcome text check (outcome in ('success', 'failure', 'partial')),
    day date not null,
    at timestamptz not null,
    primary key (tenant_id, user_id, event_id)
);
create unique index usage_events_once on usage_events (tenant_id, user_id, skill_id, session_key, memory_id, day)
    nulls not distinct where kind = 'used';
create index usage_events_of_skill on usage_events (tenant_id, user_id, skill_id);
-- Rows arrive in order of time, so a few pages of BRIN make pruning cheap.
create index usage_events_by_age on usage_events using brin (at);
select app.protect('usage_events');
select app.open_to_system('usage_events');
grant select, insert, update, delete on usage_events to knowhow_tenant, knowhow_admin;
grant select (tenant_id, user_id, event_id, at), delete on usage_events to knowhow_system;

-- The names of skills that were absorbed by another; they keep answering with their successor.
create table skill_redirects (
    tenant_id uuid not null,
    user_id uuid not null,
    name text collate "C" not null,
    skill_id uuid not null,
    created_at timestamptz not null,
    primary key (tenant_id, user_id, name),
    foreign key (tenant_id, user_id, skill_id) references skills on delete cascade
);
create index skill_redirects_to on skill_redirects (tenant_id, user_id, skill_id);
select app.protect('skill_redirects');
grant select, insert, update, delete on skill_redirects to knowhow_tenant, knowhow_admin;

-- Deleted skills with all their versions. A user's transactions can put something in, never look at it: only the
-- digests are readable, so that clearing up knows which files are still held.
create table archived_skills (
    tenant_id uuid not null,
    user_id uuid not null,
    archive_id uuid not null,
    skill_id uuid not null,
    name text collate "C" not null,
    state jsonb not null,
    versions jsonb not null,
    digests bytea[] not null,
    absorbed_into text,
    deleted_by text not null,
    deleted_at timestamptz not null,
    purge_at timestamptz not null,
    primary key (tenant_id, user_id, archive_id),
    foreign key (tenant_id, user_id) references users
);
create index archived_skills_by_age on archived_skills (purge_at);
create index archived_skills_of_tenant on archived_skills (tenant_id, archive_id);
select app.protect('archived_skills');
select app.open_to_system('archived_skills');
grant insert, select (tenant_id, user_id, digests) on archived_skills to knowhow_tenant;
grant select, insert, delete on archived_skills to knowhow_admin;
grant select (tenant_id, user_id, archive_id, digests, purge_at), delete on archived_skills to knowhow_system;

-- Filled by the embedding job. Apart from skills: with a vector index on their table saves fall to a seventh.
create table skill_embeddings (
    tenant_id uuid not null,
    user_id uuid not null,
    skill_id uuid not null,
    model text not null,
    text_digest bytea not null,
    embedding halfvec not null,
    updated_at timestamptz not null,
    primary key (tenant_id, user_id, skill_id),
    foreign key (tenant_id, user_id, skill_id) references skills on delete cascade
);
select app.protect('skill_embeddings');
grant select, insert, update, delete on skill_embeddings to knowhow_tenant, knowhow_admin;

-- What was installed for the user, so that a release updates only what the user has not touched and never brings
-- back what the user deleted.
create table starter_installs (
    tenant_id uuid not null,
    user_id uuid not null,
    name text collate "C" not null,
    document_digest bytea not null,
    installed_at timestamptz not null,
    primary key (tenant_id, user_id, name),
    foreign key (tenant_id, user_id) references users
);
select app.protect('starter_installs');
grant select, insert, update on starter_installs to knowhow_tenant, knowhow_admin;

reset role;
