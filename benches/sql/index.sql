-- Every parameter of the statement stays one, as the service sends it: with literals Postgres would plan another way.
\set n random(1, :users)
begin;
select set_config('role', 'knowhow_tenant', true), set_config('app.tenant_id', :tenant, true),
    set_config('app.user_id', bench.user_id(:n)::text, true), set_config('statement_timeout', '5000', true),
    bench.user_id(:n) as uid, '' as nothing, '~' as last, 51 as page \gset
@skills.list_page
:tenant
:uid
:nothing
:last
:nothing
nullif(:nothing, '')
nullif(:nothing, '')
:page
@end
commit;
