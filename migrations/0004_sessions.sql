-- Sessions: the conversations of agents, their turns and messages, and the snapshots that their prompts begin with.
set local role knowhow_owner;

-- SNAPSHOTS

-- A snapshot is rendered once and never changed: a session keeps the one it began with. The same text is one row, for whatever budget and
-- form it was rendered.
create table snapshots (
    tenant_id uuid not null,
    user_id uuid not null,
    snapshot_id uuid not null,
    sha256 bytea not null check (length(sha256) = 32),
    content text not null,
    omitted jsonb not null,
    created_at timestamptz not null,
    bytes integer generated always as (octet_length(content)) stored,
    primary key (tenant_id, user_id, snapshot_id),
    foreign key (tenant_id, user_id) references users
);
-- Rows arrive in the order of time, so a few pages of BRIN are enough to find expired rows.
create index snapshots_by_age on snapshots using brin (created_at);
create index snapshots_by_content on snapshots (sha256, user_id, tenant_id) where sha256 is not null;
create statistics snapshots_of_owner (ndistinct, dependencies) on tenant_id, user_id from snapshots;
select app.protect('snapshots');
alter table snapshots alter column user_id set (n_distinct = -0.02);
select app.open_to_system('snapshots');
grant select, insert, delete on snapshots to knowhow_tenant, knowhow_admin;
grant select (tenant_id, user_id, snapshot_id, created_at), delete on snapshots to knowhow_system;

-- The snapshot that a new session gets, for each index budget and form that sessions asked for. A form stands for the tools that the
-- agent can call and the number of words that its channel has room for.
-- The system prolongs a snapshot that would be rendered to the same text, in one statement for all users.
create table current_snapshots (
    tenant_id uuid not null,
    user_id uuid not null,
    index_budget integer not null,
    snapshot_id uuid not null,
    revision bigint not null,
    rendered_at timestamptz not null,
    used_at timestamptz not null,
    form text not null default 'full' check (form in ('full', 'full-short', 'read', 'read-short', 'none')),
    -- The version of the service that rendered it. Another version may render other words.
    rendered_by text,
    primary key (tenant_id, user_id, index_budget, form),
    foreign key (tenant_id, user_id, snapshot_id) references snapshots
) with (fillfactor = 80);
create index current_snapshots_by_age on current_snapshots (rendered_at);
create index current_snapshots_of_snapshot on current_snapshots (tenant_id, user_id, snapshot_id);
select app.protect('current_snapshots');
select app.open_to_system('current_snapshots');
grant select, insert, update, delete on current_snapshots to knowhow_tenant, knowhow_admin;
grant select, update (rendered_at), delete on current_snapshots to knowhow_system;

-- CONVERSATIONS

-- A conversation on a channel. `listed` and `injected` are the skills that the agent was shown since its prompt was last compressed:
-- by name with a summary, and in full.
create table sessions (
    tenant_id uuid not null,
    user_id uuid not null,
    session_id uuid not null,
    key text collate "C" not null,
    channel text not null check (channel in ('chat', 'voice', 'sms', 'scheduled', 'nudge')),
    -- The number of rounds (calls of the model, each with its tool calls) that the agent may take to answer one message.
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
    -- The tools that the agent can call.
    tools text not null default 'full' check (tools in ('full', 'read', 'none')),
    -- The bytes of its messages and turns, and the number of replies in the current turn.
    log_bytes bigint not null default 0,
    turn_replies integer not null default 0,
    -- The number of sessions that may begin after this one before the sessions of the user are counted again. To count them for each new
    -- session would take 3 ms for 5,000 sessions, and others would wait for it.
    room integer not null default 0 check (room >= 0),
    -- The budget of the current turn, if the turn overrides that of the session.
    turn_max_turns integer,
    -- Tool calls over MCP in the current turn.
    turn_calls integer not null default 0,
    -- Replies that spent their budget.
    budgets_spent integer not null default 0,
    -- Skills that the last turn offered by name. Those that are not used until the next turn were ignored.
    offered uuid[] not null default '{}',
    primary key (tenant_id, user_id, session_id),
    foreign key (tenant_id, user_id) references users,
    foreign key (tenant_id, user_id, snapshot_id) references snapshots
) with (fillfactor = 60);
create unique index sessions_open on sessions (tenant_id, user_id, key) where ended_at is null;
-- The next indexes begin with the value of the lookup, for the reasons given at user_catalogs and skill_versions_of_document.
create index sessions_of_key on sessions (key, user_id, tenant_id, session_id) where key is not null;
create index sessions_of_snapshot on sessions (snapshot_id, user_id, tenant_id) where snapshot_id is not null;
-- By the start, which no turn changes, so that updates by turns stay HOT.
create index sessions_open_by_age on sessions (started_at) where started_at is not null and ended_at is null;
-- Each tenant keeps its sessions for its own number of days.
create index sessions_ended_of_tenant on sessions (tenant_id, ended_at) where ended_at is not null;
create statistics sessions_of_owner (ndistinct, dependencies) on tenant_id, user_id from sessions;
select app.protect('sessions');
alter table sessions alter column user_id set (n_distinct = -0.02);
select app.open_to_system('sessions');
grant select, insert, update, delete on sessions to knowhow_tenant, knowhow_admin;
-- Whether a session has become silent depends on its channel.
grant select (tenant_id, user_id, session_id, channel, snapshot_id, started_at, last_message_at, ended_at), update (ended_at), delete
    on sessions to knowhow_system;

-- A turn refers to the texts of the skills that it included, and `answer` has the rest. `answer_digest` is the digest of the bytes that
-- were sent.
create table turns (
    tenant_id uuid not null,
    user_id uuid not null,
    session_id uuid not null,
    turn integer not null,
    turn_key text,
    request_digest bytea not null,
    answer text not null,
    created_at timestamptz not null,
    answer_digest bytea check (length(answer_digest) = 32),
    primary key (tenant_id, user_id, session_id, turn),
    foreign key (tenant_id, user_id, session_id) references sessions on delete cascade
);
create unique index turns_by_key on turns (tenant_id, user_id, session_id, turn_key) where turn_key is not null;
select app.protect('turns');
alter table turns alter column user_id set (n_distinct = -0.02);
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
    -- The making of an agent's reply: its rounds, the outcomes of its tool calls, and whether the budget was spent.
    rounds integer,
    tools jsonb not null default '[]',
    budget_spent boolean not null default false,
    primary key (tenant_id, user_id, session_id, message_id),
    foreign key (tenant_id, user_id, session_id) references sessions on delete cascade
);
select app.protect('messages');
alter table messages alter column user_id set (n_distinct = -0.02);
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

-- The feedback of each conversation that has any. The view runs as its caller, so all policies apply.
create view session_judgements with (security_invoker = true) as
select g.tenant_id, g.user_id, g.session_id, count(*) filter (where g.kind = 'correction') as corrections,
       count(*) filter (where g.kind = 'thumbs_up') as thumbs_up, count(*) filter (where g.kind = 'thumbs_down') as thumbs_down,
       array_agg(left(g.note, 500) order by g.feedback_id) filter (where g.note <> '') as notes
from session_feedback g
group by g.tenant_id, g.user_id, g.session_id;
grant select on session_judgements to knowhow_tenant;

-- The part of a conversation that is kept when its log has expired. `terms` are the stemmed words of title and summary.
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
    -- Whether the conversation had read an untrusted source. If so, no snapshot shows its title.
    tainted boolean not null default false,
    made_at timestamptz not null default now(),
    primary key (tenant_id, user_id, session_id),
    foreign key (tenant_id, user_id) references users
);
create index conversation_summaries_by_end on conversation_summaries (tenant_id, user_id, ended_at, session_id);
select app.protect('conversation_summaries');
alter table conversation_summaries alter column user_id set (n_distinct = -0.02);
select app.open_to_system('conversation_summaries');
grant select, insert, update, delete on conversation_summaries to knowhow_tenant, knowhow_admin;
-- The text of a snapshot also depends on which conversations have ended since.
grant select (tenant_id, user_id, made_at) on conversation_summaries to knowhow_system;

-- LOOKUPS

-- The session that a caller names by its id or its key; the last one of that key.
create function app.find_session(session text) returns uuid language sql stable set search_path = pg_catalog, public
    return coalesce(
        (select s.session_id from sessions s
         where s.tenant_id = app.tenant_id() and s.user_id = app.user_id()
           and s.session_id = (case when pg_input_is_valid(session, 'uuid') then session end)::uuid),
        (select s.session_id from sessions s
         where s.tenant_id = app.tenant_id() and s.user_id = app.user_id() and s.key = session
         order by s.session_id desc limit 1));
revoke all on function app.find_session(text) from public;
grant execute on function app.find_session(text) to knowhow_tenant, knowhow_admin;

-- Whether a text that is written in a session is tainted by it. A caller names a session by its id or its key, and a name may be the id of
-- one session and the key of another: both count. An unknown session counts as tainted, no session as clean.
create function app.is_tainted(session text) returns boolean language sql stable set search_path = pg_catalog, public
    return case when session is null then false else coalesce(
        (select bool_or(s.tainted_by <> '{}') from sessions s
         where s.tenant_id = app.tenant_id() and s.user_id = app.user_id() and s.session_id in (
             (case when pg_input_is_valid(session, 'uuid') then session end)::uuid,
             (select k.session_id from sessions k
              where k.tenant_id = app.tenant_id() and k.user_id = app.user_id() and k.key = session
              order by k.session_id desc limit 1))),
        true) end;
revoke all on function app.is_tainted(text) from public;
grant execute on function app.is_tainted(text) to knowhow_tenant, knowhow_admin;

reset role;
