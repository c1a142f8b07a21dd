-- Dreams: what is proposed about a user's skills while nobody waits, what became of it, and the journal by which it is undone.
set local role knowhow_owner;

-- How a user's skills are learned from. Null follows the tenant.
create table learning (
    tenant_id uuid not null,
    user_id uuid not null,
    -- An IANA name.
    time_zone text,
    -- Tokens of a chat model that dreams and reflections took on this day in UTC, which no change of the zone moves.
    tokens_on date,
    tokens bigint not null default 0,
    primary key (tenant_id, user_id),
    foreign key (tenant_id, user_id) references users
);
select app.protect('learning');
select app.open_to_system('learning');
grant select, insert, update on learning to knowhow_tenant, knowhow_admin;
grant select (tenant_id, user_id, time_zone) on learning to knowhow_system;

create table dream_passes (
    tenant_id uuid not null,
    user_id uuid not null,
    pass text not null check (pass in ('gaps', 'consolidate', 'optimize')),
    mode text check (mode in ('off', 'propose', 'apply')),
    -- Failed runs in a row; three pause the pass.
    failures integer not null default 0,
    paused_at timestamptz,
    -- The user's day on which it was last begun by the clock.
    last_night date,
    -- What the last run that came to an end was made of.
    fingerprint bytea,
    fingerprint_at timestamptz,
    primary key (tenant_id, user_id, pass),
    foreign key (tenant_id, user_id) references users
);
select app.protect('dream_passes');
select app.open_to_system('dream_passes');
grant select, insert, update on dream_passes to knowhow_tenant, knowhow_admin;
grant select (tenant_id, user_id, pass, last_night) on dream_passes to knowhow_system;

create table dream_runs (
    tenant_id uuid not null,
    user_id uuid not null,
    run_id uuid not null,
    pass text not null check (pass in ('gaps', 'consolidate', 'optimize', 'reflection')),
    cause text not null check (cause in ('night', 'demand', 'reflection')),
    mode text not null check (mode in ('propose', 'apply')),
    dry_run boolean not null,
    state text not null
        check (state in ('queued', 'planned', 'applied', 'partly', 'skipped', 'failed', 'rejected', 'undone')),
    -- Why it was skipped, or has failed.
    reason text,
    fingerprint bytea,
    -- What a chat model was asked and answered, and what that took.
    calls jsonb not null default '[]',
    tokens bigint not null default 0,
    -- Skills that it has archived.
    archived integer not null default 0,
    started_by text not null,
    created_at timestamptz not null,
    finished_at timestamptz,
    undone_at timestamptz,
    undone_by text,
    -- A run is kept, and can be undone, as long as the archive is kept.
    texts_until timestamptz not null,
    primary key (tenant_id, user_id, run_id),
    foreign key (tenant_id, user_id) references users
);
create index dream_runs_by_texts on dream_runs (texts_until);
create index dream_runs_live on dream_runs (tenant_id, user_id, run_id) where state in ('planned', 'applied', 'partly');
create index dream_runs_queued on dream_runs (created_at) where state = 'queued';
select app.protect('dream_runs');
-- Users gather rows: plans must suit those who have many. So too below.
alter table dream_runs alter column user_id set (n_distinct = -0.02);
select app.open_to_system('dream_runs');
grant select, insert, update, delete on dream_runs to knowhow_tenant, knowhow_admin;
grant select (tenant_id, user_id, run_id, state, created_at, texts_until), update (state, reason, finished_at), delete
    on dream_runs to knowhow_system;

create table dream_ops (
    tenant_id uuid not null,
    user_id uuid not null,
    run_id uuid not null,
    position integer not null,
    kind text not null,
    -- What was proposed; of an answer that could not be read, what stood there.
    op jsonb not null,
    outcome text not null check (outcome in ('proposed', 'waiting', 'applied', 'refused', 'conflict', 'rejected')),
    reasons text[] not null default '{}',
    checks jsonb not null default '[]',
    -- What the conversations had read that it was made of.
    tainted_by text[] not null default '{}',
    -- The conversations that it was made of: what is written is as tainted as they are, also later.
    sessions uuid[] not null default '{}',
    -- The versions of the skills that it names, as they were shown.
    bases jsonb not null default '{}',
    -- What applying it did, step by step, with what it takes to undo that.
    journal jsonb not null default '[]',
    undo text check (undo in ('undone', 'merged', 'kept', 'gone')),
    undo_reason text,
    undo_submission uuid,
    decided_by text,
    primary key (tenant_id, user_id, run_id, position),
    foreign key (tenant_id, user_id, run_id) references dream_runs on delete cascade
);
select app.protect('dream_ops');
alter table dream_ops alter column user_id set (n_distinct = -0.02);
grant select, insert, update on dream_ops to knowhow_tenant, knowhow_admin;

-- What was undone or rejected, and until when it is not proposed again.
create table dream_rests (
    tenant_id uuid not null,
    user_id uuid not null,
    key text collate "C" not null,
    rests_until timestamptz not null,
    primary key (tenant_id, user_id, key),
    foreign key (tenant_id, user_id) references users
);
create index dream_rests_by_age on dream_rests (rests_until);
select app.protect('dream_rests');
select app.open_to_system('dream_rests');
grant select, insert, update on dream_rests to knowhow_tenant, knowhow_admin;
grant select (tenant_id, user_id, key, rests_until), delete on dream_rests to knowhow_system;

-- The vector of what a user said first in a conversation: each dream compares those of 90 days.
create table session_vectors (
    tenant_id uuid not null,
    user_id uuid not null,
    session_id uuid not null,
    model text not null,
    embedding halfvec not null,
    primary key (tenant_id, user_id, session_id),
    foreign key (tenant_id, user_id, session_id) references sessions on delete cascade
);
select app.protect('session_vectors');
alter table session_vectors alter column user_id set (n_distinct = -0.02);
grant select, insert, update on session_vectors to knowhow_tenant;

-- What was said of conversations, for each of which anything was. It runs as whoever asks, so all policies hold.
create view session_judgements with (security_invoker = true) as
select g.tenant_id, g.user_id, g.session_id, count(*) filter (where g.kind = 'correction') as corrections,
       count(*) filter (where g.kind = 'thumbs_up') as thumbs_up, count(*) filter (where g.kind = 'thumbs_down') as thumbs_down,
       array_agg(left(g.note, 500) order by g.feedback_id) filter (where g.note <> '') as notes
from session_feedback g
group by g.tenant_id, g.user_id, g.session_id;
grant select on session_judgements to knowhow_tenant;

-- Relations, without what tainted texts say of others. It runs as whoever asks, so all policies hold.
create view trusted_relations with (security_invoker = true) as
select r.* from relations r
where not (r.source = 'extracted' and exists (
    select from skills k
    where k.tenant_id = r.tenant_id and k.user_id = r.user_id and k.skill_id = r.said_by and k.tainted));
grant select on trusted_relations to knowhow_tenant;

-- The uses of a skill that another one absorbed count as that one's. Where each came from, and its digest there, the last
-- absorption last: so they can be given back.
alter table usage_events add column via uuid[], add column via_digest bytea[];

-- Which skills another one was merged into: few.
create index skill_versions_merges on skill_versions (tenant_id, user_id, skill_id) where change = 'merge';

-- A deleted skill, put back as it was, under its own name or another. Of the caller's user alone.
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
           -- Under another name it is served with that name in its text.
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
