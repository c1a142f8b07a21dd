-- Learning: prompts of a tenant, dreams and reflections.
set local role knowhow_owner;

-- The texts, in versions, that replace the built-in guidance of a prompt for a tenant.
create table directives (
    tenant_id uuid not null references tenants,
    name text collate "C" not null,
    version integer not null check (version > 0),
    text text not null,
    digest bytea not null,
    actor text not null,
    created_at timestamptz not null,
    -- Whether prompts use this version. A name without a version in force has the built-in text.
    in_force boolean not null,
    primary key (tenant_id, name, version)
);
create unique index on directives (tenant_id, name) where in_force;
select app.protect('directives');
grant select, insert, delete, update (in_force) on directives to knowhow_admin;
-- A job that asks a model runs as the user whose texts it shows to the model.
select app.share_with_users('directives');
grant select on directives to knowhow_tenant;

-- Settings of learning from a user's skills. Null means the tenant's setting.
create table learning (
    tenant_id uuid not null,
    user_id uuid not null,
    -- An IANA name.
    time_zone text,
    -- Tokens of a chat model that dreams and reflections took on this day. The day is in UTC, so a change of the zone does not move it.
    tokens_on date,
    tokens bigint not null default 0,
    primary key (tenant_id, user_id),
    foreign key (tenant_id, user_id) references users
);
select app.protect('learning');
select app.open_to_system('learning');
grant select, insert, update on learning to knowhow_tenant, knowhow_admin;
grant select (tenant_id, user_id, time_zone) on learning to knowhow_system;

-- DREAMS

-- Dreams propose changes of a user's skills in the background. A journal records the changes, so that a dream can be undone.

create table dream_passes (
    tenant_id uuid not null,
    user_id uuid not null,
    pass text not null check (pass in ('gaps', 'consolidate', 'optimize')),
    mode text check (mode in ('off', 'propose', 'apply')),
    -- Failed runs in a row; three pause the pass.
    failures integer not null default 0,
    paused_at timestamptz,
    -- The user's day on which the schedule last started it.
    last_night date,
    -- The inputs of the last run that finished.
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
    -- The reason if it was skipped or failed.
    reason text,
    fingerprint bytea,
    -- Questions to a chat model, its answers, and their cost.
    calls jsonb not null default '[]',
    tokens bigint not null default 0,
    -- The number of skills that it archived.
    archived integer not null default 0,
    started_by text not null,
    created_at timestamptz not null,
    finished_at timestamptz,
    undone_at timestamptz,
    undone_by text,
    -- A run is kept, and can be undone, as long as the archive is kept.
    texts_until timestamptz not null,
    -- The time of the notice to the tenant's webhook that operations wait for a person.
    notified_at timestamptz,
    primary key (tenant_id, user_id, run_id),
    foreign key (tenant_id, user_id) references users
);
create index dream_runs_by_texts on dream_runs (texts_until);
create index dream_runs_live on dream_runs (tenant_id, user_id, run_id) where state in ('planned', 'applied', 'partly');
create index dream_runs_queued on dream_runs (created_at) where state = 'queued';
select app.protect('dream_runs');
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
    -- The proposed operation; the text itself if the model's answer could not be read.
    op jsonb not null,
    outcome text not null check (outcome in ('proposed', 'waiting', 'applied', 'refused', 'conflict', 'rejected')),
    reasons text[] not null default '{}',
    checks jsonb not null default '[]',
    -- The sources that its conversations had read.
    tainted_by text[] not null default '{}',
    -- The conversations that it was made from. Its texts are as tainted as these, also if they are marked later.
    sessions uuid[] not null default '{}',
    -- The versions of the skills that it names, as they were shown to the model.
    bases jsonb not null default '{}',
    -- The steps that were applied, each with the data to undo it.
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

-- Operations that were undone or rejected, and until when they are not proposed again.
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

-- The vector of the first message of a conversation. Each dream compares those of 90 days.
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

-- REFLECTIONS

-- Reflections report on a user's days, weeks and months.
create table reflections (
    tenant_id uuid not null,
    user_id uuid not null,
    reflection_id uuid not null,
    cadence text not null check (cadence in ('daily', 'weekly', 'monthly')),
    -- The first day of its period, in the user's time zone.
    period date not null,
    state text not null check (state in ('queued', 'made', 'quiet', 'skipped', 'failed')),
    reason text,
    -- The memories that it is stored as: one of trusted conversations, one of the others.
    memory_ids uuid[] not null default '{}',
    -- The conversations that it was made from, by itself or by the reflections below it. No other reflection of a day reports them again.
    session_ids uuid[] not null default '{}',
    -- The dream run of its proposals.
    run_id uuid,
    -- Unusable answers of a model.
    tries integer not null default 0,
    tokens bigint not null default 0,
    -- Questions to a chat model and its answers.
    calls jsonb not null default '[]',
    created_at timestamptz not null,
    finished_at timestamptz,
    -- Questions and answers are kept as long as the archive.
    texts_until timestamptz not null,
    primary key (tenant_id, user_id, reflection_id),
    foreign key (tenant_id, user_id) references users
);
create unique index reflections_of_period on reflections (tenant_id, user_id, cadence, period);
create index reflections_by_texts on reflections (texts_until) where calls <> '[]';
create index reflections_by_age on reflections (created_at);
select app.protect('reflections');
alter table reflections alter column user_id set (n_distinct = -0.02);
select app.open_to_system('reflections');
grant select, insert, update on reflections to knowhow_tenant;
grant select (tenant_id, user_id, reflection_id, cadence, period, state, tries, calls, created_at, finished_at, texts_until), delete,
    update (calls) on reflections to knowhow_system;

-- The time zone of this name, or UTC if Postgres does not know it: an unknown name must not fail a user's day.
create function app.zone(name text) returns text language plpgsql stable parallel safe set search_path = pg_catalog as $$
begin
    perform now() at time zone name;
    return coalesce(name, 'UTC');
exception when invalid_parameter_value then
    return 'UTC';
end $$;
revoke all on function app.zone(text) from public;
grant execute on function app.zone(text) to knowhow_tenant, knowhow_system;

-- Whether a period needs no further reflection. A reflection that was requested before its time, and was quiet or skipped then, is made
-- again.
create function app.is_reflected(state text, tries integer, finished_at timestamptz, due_at timestamptz) returns boolean
language sql immutable parallel safe set search_path = pg_catalog
return case state when 'made' then true when 'failed' then tries >= 3 when 'queued' then false else finished_at >= due_at end;
revoke all on function app.is_reflected(text, integer, timestamptz, timestamptz) from public;
grant execute on function app.is_reflected(text, integer, timestamptz, timestamptz) to knowhow_system;

reset role;
