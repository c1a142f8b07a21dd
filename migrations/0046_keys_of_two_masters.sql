set local role knowhow_owner;

-- Under which master key an API key's secret is hashed, by a mark that tells nothing of it; null where nobody has noted it. A key that
-- is used is hashed anew where that is another one than now.
alter table api_keys add column hashed_under bytea;
grant update (secret_hash, hashed_under) on api_keys to knowhow_system;
-- A key that is rotated ends when its successor has been taken into use.
grant update (expires_at) on api_keys to knowhow_admin;

-- Secrets that are sealed anew, of all tenants.
grant update (sealed_secret) on issuers to knowhow_system;
grant update (sealed_secret, previous_sealed_secret) on webhooks to knowhow_system;

reset role;
