set local role knowhow_owner;

-- A vector for each model: while one model takes another's place, processes of both find their own.
alter table skill_embeddings
    drop constraint skill_embeddings_pkey,
    add primary key (tenant_id, user_id, skill_id, model);
alter table memory_embeddings
    drop constraint memory_embeddings_pkey,
    add primary key (tenant_id, user_id, memory_id, model),
    add column updated_at timestamptz not null default now();

-- What has no vector of the present model, and what has one of a model of the past, is asked over all tenants, a page at
-- a time.
select app.open_to_system('memories'), app.open_to_system('memory_embeddings');
grant select (tenant_id, user_id, memory_id) on memories to knowhow_system;
grant select (tenant_id, user_id, memory_id, model, updated_at), delete on memory_embeddings to knowhow_system;
grant select (updated_at), delete on skill_embeddings to knowhow_system;

-- Whether the conversation had read what is not to be trusted: its title is then in no snapshot.
alter table conversation_summaries add column tainted boolean not null default false;
update conversation_summaries c set tainted = true
from sessions s
where s.tenant_id = c.tenant_id and s.user_id = c.user_id and s.session_id = c.session_id and s.tainted_by <> '{}';

-- Each tenant keeps its sessions for a time of its own.
create index sessions_ended_of_tenant on sessions (tenant_id, ended_at) where ended_at is not null;
drop index sessions_ended;

-- A user belongs to one tenant. Without knowing that, the planner takes a user's rows for few, and reads all of them.
create statistics sessions_of_owner (ndistinct, dependencies) on tenant_id, user_id from sessions;
create statistics skills_of_owner (ndistinct, dependencies) on tenant_id, user_id from skills;
create statistics memories_of_owner (ndistinct, dependencies) on tenant_id, user_id from memories;
create statistics snapshots_of_owner (ndistinct, dependencies) on tenant_id, user_id from snapshots;
create statistics usage_events_of_owner (ndistinct, dependencies) on tenant_id, user_id from usage_events;

-- Which sessions fell silent depends on their channel.
grant select (channel) on sessions to knowhow_system;

reset role;
