-- A snapshot that would be rendered to the same text is prolonged by the clock, in one statement for all users together.
-- What its text depends on beside the user's revision: when a skill was last used, and which conversations came to an end.

set local role knowhow_owner;

-- The version of the service that rendered it, as another one may print other words; null was rendered before.
alter table current_snapshots add column rendered_by text;
grant update (rendered_at) on current_snapshots to knowhow_system;

alter table conversation_summaries add column made_at timestamptz not null default now();
select app.open_to_system('conversation_summaries'), app.open_to_system('skill_usage');
grant select (tenant_id, user_id, made_at) on conversation_summaries to knowhow_system;
grant select (tenant_id, user_id, last_used_at) on skill_usage to knowhow_system;

reset role;
