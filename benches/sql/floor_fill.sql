-- Fills the tables of the floors with what users 1..last have in the service's. Adapt this one where a migration says so.
insert into floor.skills
select s.tenant_id, s.user_id, s.name, s.summary, s.description, s.category, s.tags, s.version, s.pinned, coalesce(s.importance, 0.5),
       s.updated_at, convert_from(s.document, 'UTF8')
from skill_states s
where s.tenant_id = :'tenant' and s.user_id between bench.user_id(1) and bench.user_id(:last) and s.document is not null;
insert into floor.usage select tenant_id, user_id, name, 0, null from floor.skills;
insert into floor.history select tenant_id, user_id, name, version, document, updated_at from floor.skills;
vacuum analyze floor.skills, floor.usage, floor.history;
