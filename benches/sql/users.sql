-- Users first..last of the tenant, without skills.
insert into users (tenant_id, user_id, external_id, created_at)
select :'tenant', bench.user_id(n), 'user-' || n, now() from generate_series(:first, :last) n;
insert into user_catalogs (tenant_id, user_id)
select :'tenant', bench.user_id(n) from generate_series(:first, :last) n;
