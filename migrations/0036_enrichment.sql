-- Enrichment: words by which a skill is found whose author gave few. They stand beside the author's own, and go with the text
-- that they were made of.
set local role knowhow_owner;

alter table skills
    -- What the author's text lacks: 2 a description of more than 30 characters, 1 triggers alone, 0 neither. A starter that is
    -- the text of all users lacks nothing here.
    add column lacks smallint not null generated always as (
        case when char_length(description) <= 30 then 2 when triggers = '{}' then 1 else 0 end) stored,
    add column made_description text,
    add column made_triggers text[] not null default '{}',
    -- Where nothing could be made, it says who tried.
    add column made_by text check (made_by in ('model', 'extract')),
    -- How often it was tried in vain for the author's description and triggers, whose digest stands beside it, and how often a
    -- version was made of them.
    add column enrich_tries integer not null default 0,
    add column enrich_of bytea;
grant select (lacks, made_by, enrich_tries) on skills to knowhow_system;

-- The same view, and what was made.
create or replace view skill_states with (security_invoker = true) as
select s.tenant_id, s.user_id, s.skill_id, s.name, coalesce(s.description, t.description) as description,
       coalesce(s.summary, t.summary) as summary, s.made_summary, coalesce(s.category, t.category) as category,
       coalesce(s.tags, t.tags) as tags, coalesce(s.triggers, t.triggers) as triggers,
       coalesce(s.see_also, t.see_also) as see_also, coalesce(s.role, t.role) as role,
       coalesce(s.attributes, t.attributes) as attributes, s.source, s.pinned, s.enriched, s.importance, s.decay_rate,
       s.version, coalesce(s.digest, t.digest) as digest, coalesce(s.document_digest, t.document_digest) as document_digest,
       coalesce(s.document_bytes, t.document_bytes) as document_bytes,
       coalesce(s.frontmatter_at_byte, t.frontmatter_at_byte) as frontmatter_at_byte,
       coalesce(s.frontmatter_end_at_byte, t.frontmatter_end_at_byte) as frontmatter_end_at_byte,
       coalesce(s.content_at_byte, t.content_at_byte) as content_at_byte, coalesce(s.resources, '[]') as resources,
       coalesce(s.resource_bytes, 0) as resource_bytes, s.created_at, s.updated_at,
       coalesce(s.frontmatter, t.frontmatter) as frontmatter, coalesce(r.content, t.document) as document, s.starter_id,
       false as lent, s.tainted, s.made_description, s.made_triggers, s.made_by
from skills s
left join starter_texts t on t.starter_id = s.starter_id
left join skill_resources r on r.tenant_id = s.tenant_id and r.user_id = s.user_id and r.digest = s.document_digest
union all
select c.tenant_id, c.user_id, starter_skill_id(c.user_id, t.name), t.name, t.description,
       t.summary, null, t.category,
       t.tags, t.triggers,
       t.see_also, t.role,
       t.attributes, 'starter', false, false, 0.7::real, null::real,
       1, t.digest, t.document_digest,
       t.document_bytes,
       t.frontmatter_at_byte,
       t.frontmatter_end_at_byte,
       t.content_at_byte, '[]',
       0, c.starters_at, c.starters_at,
       t.frontmatter, t.document, t.starter_id,
       true, false, null, '{}', null
from user_catalogs c
join starter_releases b on b.release = c.starters_release
join starter_texts t on t.starter_id = b.starter_id
where c.starters_at is not null;

reset role;
