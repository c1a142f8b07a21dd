set local role knowhow_owner;

-- Snapshots rendered at an earlier revision than this are given to no session that begins: something was taken away.
alter table user_catalogs add column snapshot_floor bigint not null default 0;

-- The index line that a model wrote where the author gave none. Not part of the text, so it makes no version.
alter table skills add column made_summary text;

-- Rendered once and never changed: a session keeps the one it began with. The same bytes are one row.
create table snapshots (
    tenant_id uuid not null,
    user_id uuid not null,
    snapshot_id uuid not null,
    sha256 bytea not null check (length(sha256) = 32),
    content text not null,
    omitted jsonb not null,
    created_at timestamptz not null,
    primary key (tenant_id, user_id, snapshot_id),
    foreign key (tenant_id, user_id) references users
);
create index snapshots_by_age on snapshots using brin (created_at);
select app.protect('snapshots');
select app.open_to_system('snapshots');
grant select, insert on snapshots to knowhow_tenant, knowhow_admin;
grant select (tenant_id, user_id, snapshot_id, created_at), delete on snapshots to knowhow_system;

-- Which snapshot a session that begins now is given, for each budget of the index that sessions asked for.
create table current_snapshots (
    tenant_id uuid not null,
    user_id uuid not null,
    index_budget integer not null,
    snapshot_id uuid not null,
    revision bigint not null,
    rendered_at timestamptz not null,
    used_at timestamptz not null,
    primary key (tenant_id, user_id, index_budget),
    foreign key (tenant_id, user_id, snapshot_id) references snapshots
) with (fillfactor = 80);
create index current_snapshots_by_age on current_snapshots (rendered_at);
create index current_snapshots_of_snapshot on current_snapshots (tenant_id, user_id, snapshot_id);
select app.protect('current_snapshots');
select app.open_to_system('current_snapshots');
grant select, insert, update, delete on current_snapshots to knowhow_tenant, knowhow_admin;
grant select, delete on current_snapshots to knowhow_system;

-- One conversation on a channel. listed and injected are what the agent has been shown since its prompt was last
-- compressed: names with summaries, and whole bodies.
create table sessions (
    tenant_id uuid not null,
    user_id uuid not null,
    session_id uuid not null,
    key text collate "C" not null,
    channel text not null check (channel in ('chat', 'voice', 'sms', 'scheduled', 'nudge')),
    max_turns integer not null check (max_turns >= 1),
    index_budget integer not null,
    inline_top boolean not null,
    snapshot_id uuid not null,
    previous_session_id uuid,
    turns integer not null default 0,
    tainted_by text[] not null default '{}',
    listed uuid[] not null default '{}',
    injected uuid[] not null default '{}',
    quality text check (quality in ('good', 'fair', 'poor')),
    started_at timestamptz not null,
    last_message_at timestamptz,
    ended_at timestamptz,
    primary key (tenant_id, user_id, session_id),
    foreign key (tenant_id, user_id) references users,
    foreign key (tenant_id, user_id, snapshot_id) references snapshots
) with (fillfactor = 60);
create unique index sessions_open on sessions (tenant_id, user_id, key) where ended_at is null;
create index sessions_of_key on sessions (tenant_id, user_id, key, session_id);
create index sessions_of_snapshot on sessions (tenant_id, user_id, snapshot_id);
-- By the start, which no turn changes, so that turns stay HOT.
create index sessions_open_by_age on sessions (started_at) where ended_at is null;
create index sessions_ended on sessions (ended_at) where ended_at is not null;
select app.protect('sessions');
select app.open_to_system('sessions');
grant select, insert, update on sessions to knowhow_tenant, knowhow_admin;
grant select (tenant_id, user_id, session_id, snapshot_id, started_at, last_message_at, ended_at), update (ended_at), delete
    on sessions to knowhow_system;

-- The answer as its bytes went out, so that it can be read again.
create table turns (
    tenant_id uuid not null,
    user_id uuid not null,
    session_id uuid not null,
    turn integer not null,
    turn_key text,
    request_digest bytea not null,
    answer text not null,
    created_at timestamptz not null,
    primary key (tenant_id, user_id, session_id, turn),
    foreign key (tenant_id, user_id, session_id) references sessions on delete cascade
);
create unique index turns_by_key on turns (tenant_id, user_id, session_id, turn_key) where turn_key is not null;
select app.protect('turns');
grant select, insert on turns to knowhow_tenant, knowhow_admin;

create table messages (
    tenant_id uuid not null,
    user_id uuid not null,
    session_id uuid not null,
    message_id uuid not null,
    turn integer not null,
    speaker text not null check (speaker in ('user', 'agent')),
    content text not null,
    tool_calls integer not null,
    at timestamptz not null,
    primary key (tenant_id, user_id, session_id, message_id),
    foreign key (tenant_id, user_id, session_id) references sessions on delete cascade
);
select app.protect('messages');
grant select, insert on messages to knowhow_tenant, knowhow_admin;

create table session_feedback (
    tenant_id uuid not null,
    user_id uuid not null,
    session_id uuid not null,
    feedback_id uuid not null,
    kind text not null check (kind in ('correction', 'thumbs_up', 'thumbs_down', 'quality')),
    value text,
    note text,
    turn integer not null,
    at timestamptz not null,
    primary key (tenant_id, user_id, session_id, feedback_id),
    foreign key (tenant_id, user_id, session_id) references sessions on delete cascade
);
select app.protect('session_feedback');
grant select, insert on session_feedback to knowhow_tenant, knowhow_admin;

-- What is left of a conversation when its log is past its time. terms are the stemmed words of title and summary.
create table conversation_summaries (
    tenant_id uuid not null,
    user_id uuid not null,
    session_id uuid not null,
    title text not null,
    summary jsonb not null,
    made_by text not null check (made_by in ('model', 'extract')),
    terms text[] not null,
    channel text not null,
    started_at timestamptz not null,
    ended_at timestamptz not null,
    primary key (tenant_id, user_id, session_id),
    foreign key (tenant_id, user_id) references users
);
create index conversation_summaries_by_end on conversation_summaries (tenant_id, user_id, ended_at, session_id);
select app.protect('conversation_summaries');
grant select, insert, update on conversation_summaries to knowhow_tenant, knowhow_admin;

create table souls (
    tenant_id uuid not null,
    user_id uuid not null,
    version integer not null check (version >= 1),
    content text not null,
    actor text not null,
    session text,
    tainted boolean not null,
    created_at timestamptz not null,
    primary key (tenant_id, user_id, version),
    foreign key (tenant_id, user_id) references users
);
select app.protect('souls');
grant select, insert on souls to knowhow_tenant, knowhow_admin;

create table memories (
    tenant_id uuid not null,
    user_id uuid not null,
    memory_id uuid not null,
    kind text not null check (kind in ('semantic', 'episodic', 'reflection')),
    content text not null,
    terms text[] not null,
    tags text[] not null,
    importance real not null,
    core boolean not null,
    session text,
    tainted boolean not null,
    created_at timestamptz not null,
    primary key (tenant_id, user_id, memory_id),
    foreign key (tenant_id, user_id) references users
);
create index memories_core on memories (tenant_id, user_id) where core;
select app.protect('memories');
grant select, insert, delete on memories to knowhow_tenant, knowhow_admin;

create table memory_embeddings (
    tenant_id uuid not null,
    user_id uuid not null,
    memory_id uuid not null,
    model text not null,
    embedding halfvec not null,
    primary key (tenant_id, user_id, memory_id),
    foreign key (tenant_id, user_id, memory_id) references memories on delete cascade
);
select app.protect('memory_embeddings');
grant select, insert, update, delete on memory_embeddings to knowhow_tenant, knowhow_admin;

-- Whether what is written in a session carries its taint. A caller names a session by its id or its key; one that is
-- not known counts as tainted, and no session as clean.
create function app.is_tainted(session text) returns boolean language sql stable set search_path = pg_catalog, public
    return case when session is null then false else coalesce(
        (select s.tainted_by <> '{}' from sessions s
         where s.tenant_id = app.tenant_id() and s.user_id = app.user_id()
           and s.session_id = (case when pg_input_is_valid(session, 'uuid') then session end)::uuid),
        (select s.tainted_by <> '{}' from sessions s
         where s.tenant_id = app.tenant_id() and s.user_id = app.user_id() and s.key = session
         order by s.session_id desc limit 1),
        true) end;
revoke all on function app.is_tainted(text) from public;
grant execute on function app.is_tainted(text) to knowhow_tenant, knowhow_admin;
-- Statements are prepared before their transaction takes a role; names must be found by then, no more.
grant usage on schema app to knowhow_login;

reset role;
