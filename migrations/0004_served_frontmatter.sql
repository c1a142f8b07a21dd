set local role knowhow_owner;

-- The frontmatter as JSON, for hosts that list skills over MCP: written with the text, so that a listing reads no file.
-- Null where the stored file lacks a key that hosts require, and in rows of before until they are saved again: what is
-- served is then derived from the file at each reading.
alter table skills add column frontmatter jsonb;

reset role;
