set local role knowhow_owner;

create table tenants (
    tenant_id uuid primary key,
    slug text not null unique check (slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$' and length(slug) <= 64),
    name text not null,
    settings jsonb not null default '{}',
    created_at timestamptz not null
);
select app.protect('tenants');
select app.open_to_system('tenants');
grant select, insert, update on tenants to knowhow_system;
grant select on tenants to knowhow_admin;

create table users (
    tenant_id uuid not null references tenants,
    user_id uuid not null,
    external_id text not null,
    created_at timestamptz not null,
    primary key (tenant_id, user_id),
    unique (tenant_id, external_id)
);
select app.protect('users');
select app.open_to_system('users');
grant select, insert on users to knowhow_system;
grant select on users to knowhow_tenant, knowhow_admin;

-- What changes with every write of a user, in one narrow row that stays HOT: the revision that caches are checked
-- against, the counts that quotas are checked against, and which release of the starter skills was brought in.
create table user_catalogs (
    tenant_id uuid not null,
    user_id uuid not null,
    revision bigint not null default 0,
    skill_count integer not null default 0 check (skill_count >= 0),
    byte_count bigint not null default 0 check (byte_count >= 0),
    starters_release bytea,
    primary key (tenant_id, user_id),
    foreign key (tenant_id, user_id) references users on delete cascade
) with (fillfactor = 50);
select app.protect('user_catalogs');
select app.open_to_system('user_catalogs');
grant select, insert on user_catalogs to knowhow_system;
-- Clearing up locks a user's catalog row against writers, and FOR UPDATE asks for an update grant.
grant update (revision) on user_catalogs to knowhow_system;
grant select, update on user_catalogs to knowhow_tenant, knowhow_admin;

create table issuers (
    tenant_id uuid not null references tenants,
    issuer_id uuid not null,
    iss text not null,
    audience text not null,
    algorithm text not null check (algorithm in ('HS256', 'RS256', 'ES256', 'EdDSA')),
    jwks_url text,
    sealed_secret bytea,
    created_at timestamptz not null,
    primary key (tenant_id, issuer_id),
    unique (tenant_id, iss),
    check ((algorithm = 'HS256') = (sealed_secret is not null) and (algorithm = 'HS256') = (jwks_url is null))
);
select app.protect('issuers');
select app.open_to_system('issuers');
grant select, insert on issuers to knowhow_system;
grant select, insert, delete on issuers to knowhow_admin;

create table api_keys (
    tenant_id uuid not null references tenants,
    key_id uuid not null,
    prefix text not null,
    secret_hash bytea not null,
    name text not null,
    scopes text[] not null,
    created_at timestamptz not null,
    expires_at timestamptz,
    revoked_at timestamptz,
    last_used_at timestamptz,
    primary key (tenant_id, key_id)
);
create index api_keys_by_prefix on api_keys (prefix);
select app.protect('api_keys');
select app.open_to_system('api_keys');
grant select, insert on api_keys to knowhow_system;
grant update (last_used_at) on api_keys to knowhow_system;
grant select, insert on api_keys to knowhow_admin;
grant update (revoked_at) on api_keys to knowhow_admin;

-- Append-only: nobody has UPDATE or DELETE. The nil user stands for the tenant as a whole.
create table audit_log (
    tenant_id uuid not null,
    user_id uuid not null,
    audit_id uuid not null,
    at timestamptz not null,
    actor text not null,
    action text not null,
    target text not null,
    detail jsonb not null default '{}',
    primary key (tenant_id, user_id, audit_id)
);
create index audit_log_of_tenant on audit_log (tenant_id, audit_id);
select app.protect('audit_log');
select app.open_to_system('audit_log');
grant insert on audit_log to knowhow_tenant, knowhow_admin, knowhow_system;
grant select on audit_log to knowhow_admin;

create table idempotency_keys (
    tenant_id uuid not null,
    user_id uuid not null,
    key text not null,
    request_digest bytea not null,
    response jsonb,
    created_at timestamptz not null,
    primary key (tenant_id, user_id, key)
);
create index idempotency_keys_by_age on idempotency_keys (created_at);
select app.protect('idempotency_keys');
select app.open_to_system('idempotency_keys');
grant select, insert, update, delete on idempotency_keys to knowhow_tenant, knowhow_admin;
grant select (tenant_id, user_id, key, created_at), delete on idempotency_keys to knowhow_system;

reset role;
