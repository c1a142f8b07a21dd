-- Frozen: nobody edits this file. It is what a plain service would send for the same answer, so that figures of years can be
-- compared, and so that a slow statement of the service shows beside it (its own SQL on both sides would hide that).
\set n random(1, :users)
begin;
select set_config('role', 'knowhow_tenant', true), set_config('app.tenant_id', :tenant, true),
    set_config('app.user_id', bench.user_id(:n)::text, true), set_config('statement_timeout', '5000', true),
    bench.user_id(:n) as uid, 51 as page \gset
select s.name, s.summary, s.description, s.category, s.tags, s.version, u.times_used, u.last_used_at, s.updated_at, s.pinned,
       s.importance
from floor.skills s
join floor.usage u on u.tenant_id = s.tenant_id and u.user_id = s.user_id and u.name = s.name
where s.tenant_id = :tenant and s.user_id = :uid
order by s.name
limit :page;
commit;
