-- Frozen: nobody edits this file. It is what a plain service would send for the same answer, so that figures of years can be
-- compared, and so that a slow statement of the service shows beside it (its own SQL on both sides would hide that).
-- What a turn reads and writes at least: the last turns of the conversation, and the new one, durable.
\set n random(1, :users)
\set nonce random(1, 9000000000000000)
begin;
select set_config('role', 'knowhow_tenant', true), set_config('app.tenant_id', :tenant, true),
    set_config('app.user_id', bench.user_id(:n)::text, true), set_config('statement_timeout', '5000', true),
    bench.user_id(:n) as uid, 10 as few \gset
select turn, message, shown from floor.turns
where tenant_id = :tenant and user_id = :uid
order by turn desc
limit :few;
insert into floor.turns (tenant_id, user_id, message, shown, created_at)
values (:tenant, :uid, :nonce::text || ' please plan the next meeting', '{skill-001,skill-002}', now());
commit;
