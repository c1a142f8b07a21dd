\set n random(1, :users)
\set k random(1, :skills)
begin;
select set_config('role', 'knowhow_tenant', true), set_config('app.tenant_id', :tenant, true),
    set_config('app.user_id', bench.user_id(:n)::text, true), set_config('statement_timeout', '5000', true),
    set_config('synchronous_commit', 'off', true),
    bench.user_id(:n) as uid, bench.skill_name(:k) as skill \gset
@skills.load
:tenant
:uid
:skill
now()
@end
commit;
