set local role knowhow_owner;

-- Clearing up names rows by their place (ctid), which a grant on columns leaves out.
grant select (ctid) on usage_events, archived_skills to knowhow_system;

reset role;
