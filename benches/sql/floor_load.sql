-- Frozen: nobody edits this file. It is what a plain service would send for the same answer, so that figures of years can be
-- compared, and so that a slow statement of the service shows beside it (its own SQL on both sides would hide that).
-- As an answered load may be lost from the count where Postgres itself is killed, its commit does not wait for the disk.
\set n random(1, :users)
\set k random(1, :skills)
begin;
select set_config('role', 'knowhow_tenant', true), set_config('app.tenant_id', :tenant, true),
    set_config('app.user_id', bench.user_id(:n)::text, true), set_config('statement_timeout', '5000', true),
    set_config('synchronous_commit', 'off', true), bench.user_id(:n) as uid, bench.skill_name(:k) as skill \gset
with counted as (
    update floor.usage set times_used = times_used + 1, last_used_at = now()
    where tenant_id = :tenant and user_id = :uid and name = :skill
    returning times_used, last_used_at
)
select s.*, c.times_used, c.last_used_at
from floor.skills s, counted c
where s.tenant_id = :tenant and s.user_id = :uid and s.name = :skill;
commit;
