set local role knowhow_owner;

-- A skill is also found by the name in its frontmatter, if that is another one. Most skills have none.
-- squawk-ignore require-concurrent-index-creation
create index skills_by_alias on skills (tenant_id, user_id, (attributes ->> 'alias')) where attributes ? 'alias';

reset role;
