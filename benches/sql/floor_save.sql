-- Frozen: nobody edits this file. It is what a plain service would send for the same answer, so that figures of years can be
-- compared, and so that a slow statement of the service shows beside it (its own SQL on both sides would hide that).
-- One upsert and its history.
\set n random(:users + 1, 2 * :users)
\set k random(1, :skills)
\set nonce random(1, 9000000000000000)
begin;
select set_config('role', 'knowhow_tenant', true), set_config('app.tenant_id', :tenant, true),
    set_config('app.user_id', bench.user_id(:n)::text, true), set_config('statement_timeout', '5000', true),
    bench.user_id(:n) as uid, bench.skill_name(:k) as skill, 'A skill. Use when speed is measured.' as description \gset
with saved as (
    insert into floor.skills as s (tenant_id, user_id, name, description, tags, version, pinned, importance, updated_at, document)
    values (:tenant, :uid, :skill, :description, '{}', 1, false, 0.5, now(), :nonce::text || :body::text)
    on conflict (tenant_id, user_id, name) do update
    set description = excluded.description, version = s.version + 1, updated_at = now(), document = excluded.document
    returning tenant_id, user_id, name, version, document
)
insert into floor.history (tenant_id, user_id, name, version, document, created_at)
select tenant_id, user_id, name, version, document, now() from saved;
commit;
