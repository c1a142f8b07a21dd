-- Frozen: nobody edits this file. It is what a plain service would send for the same answer, so that figures of years can be
-- compared, and so that a slow statement of the service shows beside it (its own SQL on both sides would hide that).
\set n random(1, :users)
\set k random(1, :skills)
begin;
select set_config('role', 'knowhow_tenant', true), set_config('app.tenant_id', :tenant, true),
    set_config('app.user_id', bench.user_id(:n)::text, true), set_config('statement_timeout', '5000', true),
    bench.user_id(:n) as uid, bench.skill_name(:k) as skill \gset
select document from floor.skills where tenant_id = :tenant and user_id = :uid and name = :skill;
commit;
