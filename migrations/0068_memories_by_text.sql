set local role knowhow_owner;

-- A text that is saved again is the same memory. The digest is leakproof, so row-level security lets the index be used.
-- squawk-ignore require-concurrent-index-creation
create index memories_by_text on memories (tenant_id, user_id, md5(content));

reset role;
