-- Gives users first..last a current snapshot of other bytes than would be rendered now.
begin;
set local session_replication_role = replica;
insert into snapshots (tenant_id, user_id, snapshot_id, sha256, content, omitted, created_at)
select :'tenant', bench.user_id(n), bench.user_id(n), sha256(n::text::bytea), repeat('old ', 500),
       '{"omitted": 0, "shortened": 0}', now()
from generate_series(:first, :last) n;
insert into current_snapshots (tenant_id, user_id, index_budget, snapshot_id, revision, rendered_at, used_at)
select c.tenant_id, c.user_id, :budget, c.user_id, c.revision, now(), now()
from generate_series(:first, :last) n
join user_catalogs c on c.tenant_id = :'tenant' and c.user_id = bench.user_id(n);
-- As if what their skills say of each other was read: a worker would read that of all of them while it renders.
update user_catalogs c set related_rules = 2147483647
from generate_series(:first, :last) n
where c.tenant_id = :'tenant' and c.user_id = bench.user_id(n);
commit;
