set local role knowhow_owner;

-- The frontmatter as JSON, for hosts that list skills over MCP: written with the text, so that a listing reads no file.
-- Null where the stored file lacks a key that hosts require: what is served is then derived from it at each reading.
alter table skills add column frontmatter jsonb;

reset role;
