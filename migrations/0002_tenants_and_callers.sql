-- Tenants, their users and admins, and how callers authenticate.
set local role knowhow_owner;

-- PLACES

-- Tenants that have rows here and live at another place: they are being moved here, are about to leave, or have left. During a move
-- a tenant is listed at both places for a moment and never at neither, so no two places accept its writes. The row does not belong to
-- the tenant: a move does not copy it, and no role of a tenant can read it.
create table tenants_elsewhere (
    tenant uuid primary key,
    -- Whether the tenant is being moved here, or is about to leave or has left.
    heading text not null check (heading in ('coming', 'leaving')),
    -- The place that the tenant comes from, or goes to.
    other_place text not null,
    since timestamptz not null
);
grant select on tenants_elsewhere to knowhow_system;

-- Fails if the tenant lives at another place. If there are several places, every transaction of a tenant begins with this call, which
-- takes a shared lock until the transaction ends. The process that moves the tenant marks it, then takes the lock exclusively, and so
-- waits for all transactions that did not see the mark. The check after the lock is a statement of its own, so that it sees what was
-- committed until then.
create function app.require_here() returns void language plpgsql volatile security definer
set search_path = pg_catalog as $$
begin
    -- Checked before the lock too: while the move waits for other transactions, a new one must not queue behind it.
    if exists (select from public.tenants_elsewhere e where e.tenant = app.tenant_id()) then
        raise exception 'the tenant lives at another place' using errcode = 'KH003';
    end if;
    perform pg_advisory_xact_lock_shared(hashtext('tenant at work'), hashtext(app.tenant_id()::text));
    if exists (select from public.tenants_elsewhere e where e.tenant = app.tenant_id()) then
        raise exception 'the tenant lives at another place' using errcode = 'KH003';
    end if;
end $$;
revoke all on function app.require_here() from public;
grant execute on function app.require_here() to knowhow_tenant, knowhow_admin, knowhow_system;

-- TENANTS AND USERS

create table tenants (
    tenant_id uuid primary key,
    slug text not null unique check (slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$' and length(slug) <= 64),
    name text not null,
    settings jsonb not null default '{}',
    created_at timestamptz not null,
    user_count integer not null default 0,
    -- The ids of the current texts of the tenant's library; null if it never had a library.
    library integer[],
    -- Increased with every erasure and suspension of a user. Processes read a tenant at least once a second. If this number has changed,
    -- they look up the users again.
    erasures bigint not null default 0,
    -- The time and reason, if an operator stopped the tenant.
    suspended_at timestamptz,
    suspended_reason text
);
select app.protect('tenants');
-- The credentials and users of a tenant that lives elsewhere can still be looked up here: a transaction that began before the tenant
-- was marked ends normally, and app.require_here refuses one that begins later. So these tables have a policy of their own.
create policy system on tenants to knowhow_system using (true) with check (true);
grant select, insert, update on tenants to knowhow_system;
grant select, update (library, erasures, user_count) on tenants to knowhow_admin;

create table users (
    tenant_id uuid not null references tenants,
    user_id uuid not null,
    external_id text not null,
    created_at timestamptz not null,
    -- The time and reason, if an admin ordered that no data of the user may be deleted.
    held_at timestamptz,
    hold_reason text,
    -- The time of the user's erasure. From then on no user has this name. A job deletes the rows, this one last.
    erased_at timestamptz,
    -- The time and reason, if an admin stopped the user. Processes see it as they see an erasure: the tenant's `erasures` is increased.
    suspended_at timestamptz,
    suspended_reason text,
    primary key (tenant_id, user_id),
    unique (tenant_id, external_id)
);
-- Users by the beginning of their names. In the order of bytes all names with one beginning are next to each other. The
-- database's own order may be another one.
create index users_by_name on users (tenant_id, external_id collate "C");
select app.protect('users');
create policy system on users to knowhow_system using (true) with check (true);
grant select, insert on users to knowhow_system;
grant select on users to knowhow_tenant, knowhow_admin;
grant update (external_id, held_at, hold_reason, erased_at, suspended_at, suspended_reason) on users to knowhow_admin;

-- The values that change with every write of a user, in one narrow row, so that its updates stay HOT. `revision` is the version that caches
-- are checked against, and the counts are checked against quotas.
create table user_catalogs (
    tenant_id uuid not null,
    user_id uuid not null,
    revision bigint not null default 0,
    skill_count integer not null default 0 check (skill_count >= 0),
    byte_count bigint not null default 0 check (byte_count >= 0),
    -- The release of the starter skills that the user was given.
    starters_release bytea,
    -- A new session gets no snapshot that was rendered at an earlier revision, because something was removed since.
    snapshot_floor bigint not null default 0,
    -- Increased when a user's example vectors change. It is separate from `revision`, because a new revision rebuilds the whole
    -- catalogue of recall, and the examples are only a few vectors.
    examples_revision bigint not null default 0,
    -- The time when the user was lent the starters of `starters_release`, as long as the user has no rows for them. Rows are created by
    -- the first use or change of a skill, or by a later release with other starters (store/src/skills/starters.rs).
    starters_at timestamptz,
    -- The last time when a text that prompts may show was marked as tainted. Prompts rendered before do not show the mark.
    marked_at timestamptz,
    -- Bytes of all stored files, versions and deleted skills of the user.
    stored_bytes bigint not null default 0,
    -- The version of the scanner's rules that all skills of the user were read with. A user who only has lent starters has no text to read.
    scanned_rules integer not null default 0,
    -- The version of the rules that all skills of the user were read for relations with. Later changes have a job of their own.
    related_rules integer not null default 0,
    primary key (tenant_id, user_id),
    foreign key (tenant_id, user_id) references users on delete cascade,
    check (starters_at is null or starters_release is not null)
) with (fillfactor = 80);
-- `is not null` excludes no row. It follows only from a condition on the first column, so Postgres uses the index for no other
-- statement. Otherwise it could also look for the rows of a user in an index that has tenant and user as later columns. It would
-- then read the entries of all users. While a table is almost empty, Postgres estimates the same cost for it as for the primary key, and
-- keeps the plan while the table grows. Further indexes below have such a condition. The test of plans shows if a newer Postgres
-- ignores it.
create index user_catalogs_by_related on user_catalogs (related_rules) where related_rules is not null and starters_at is null;
create index user_catalogs_by_rules on user_catalogs (scanned_rules) where scanned_rules is not null and starters_at is null;
select app.protect('user_catalogs');
create policy system on user_catalogs to knowhow_system using (true) with check (true);
grant select, insert on user_catalogs to knowhow_system;
-- The deletion of expired rows locks a user's catalog row against writers, and FOR UPDATE needs the right to update a column.
grant update (revision, examples_revision, stored_bytes) on user_catalogs to knowhow_system;
grant select, update on user_catalogs to knowhow_tenant, knowhow_admin;

-- CREDENTIALS

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
create policy system on issuers to knowhow_system using (true) with check (true);
-- The system encrypts the secrets of all tenants again if the deployment's secret changes.
grant select, insert, update (sealed_secret) on issuers to knowhow_system;
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
    -- Identifies the master key of `secret_hash` without revealing it; null if it is unknown. A key that is used is hashed again if the
    -- master key has changed.
    hashed_under bytea,
    -- A rotated key expires when its successor is first used. `first_expires_at` is when it would have expired without the rotation. Each
    -- successor expires then, so a key can be rotated again if the secret of its successor was lost.
    rotated_at timestamptz,
    first_expires_at timestamptz,
    primary key (tenant_id, key_id)
);
create index api_keys_by_prefix on api_keys (prefix);
create index api_keys_by_end on api_keys (least(revoked_at, expires_at)) where least(revoked_at, expires_at) is not null;
select app.protect('api_keys');
create policy system on api_keys to knowhow_system using (true) with check (true);
-- The system deletes keys that were revoked or have expired. Their entries in the audit log stay.
grant select, insert, update (last_used_at, secret_hash, hashed_under), delete on api_keys to knowhow_system;
grant select, insert, update (revoked_at, expires_at, rotated_at, first_expires_at) on api_keys to knowhow_admin;

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

-- Logins to the console. The cookie carries a secret of 32 random bytes, and only its SHA-256 is stored. A session acts as the caller
-- whose API key or token was pasted, and ends with that credential.
create table console_sessions (
    tenant_id uuid not null,
    user_id uuid not null,
    secret_hash bytea not null check (octet_length(secret_hash) = 32),
    scopes text[] not null,
    -- The API key; null for a token.
    key_id uuid,
    -- The issuer of the token; null for an API key. An issuer that is deleted and registered again has another id.
    issuer_id uuid,
    created_at timestamptz not null,
    -- The last request, to the minute. A session without requests for an hour has ended.
    used_at timestamptz not null,
    ends_at timestamptz not null,
    -- An admin's reason to read the data of other users, and the time at which it must be given again.
    reason text check (length(reason) <= 200),
    reason_ends_at timestamptz,
    -- The user whose pages the admin reads. Without one, the reason is for the changes of all users.
    viewed_user uuid,
    primary key (tenant_id, user_id, secret_hash),
    foreign key (tenant_id, user_id) references users on delete cascade,
    check ((key_id is null) <> (issuer_id is null)),
    check ((reason is null) = (reason_ends_at is null)),
    check (viewed_user is null or reason is not null)
);
-- A cookie names its tenant and not its user.
create index console_sessions_by_secret on console_sessions (tenant_id, secret_hash);
create index console_sessions_by_end on console_sessions (ends_at);
select app.protect('console_sessions');
select app.open_to_system('console_sessions');
-- Users do not read their sessions: a session is found by its secret before there is a user. These columns select the row to change.
grant insert, select (tenant_id, user_id, secret_hash, used_at), update (used_at, reason, reason_ends_at, viewed_user), delete on console_sessions
    to knowhow_tenant;
grant select, delete on console_sessions to knowhow_system;

-- NAMES OF ACTORS

-- Histories store an actor by the user's id (`user:<id>`, `key:<prefix> for <id>`, `shell for <id>`), so that a user's name can be
-- erased. The name is joined when a row is shown, as long as the user exists.

-- The tenant shows the names of its users in histories. app.shown_user reads them as the owner, who has no other access to users.
create policy names on users for select to knowhow_owner using (tenant_id = app.tenant_id());

-- The tenant's own name for the user with this id. The text itself, if it names no user of the running tenant, or one who was erased.
create function app.shown_user(named text) returns text language sql stable strict security definer
set search_path = pg_catalog, public as $$
    select coalesce(
        (select u.external_id from users u
         where u.tenant_id = app.tenant_id() and u.erased_at is null
           and u.user_id = (case when pg_input_is_valid(named, 'uuid') then named end)::uuid),
        named)
$$;

-- An actor, with the tenant's own name for the user.
create function app.shown_actor(actor text) returns text language sql stable strict security definer
set search_path = pg_catalog, public as $$
    select case when actor ~ '^(user:|shell for |key:[a-z0-9]+ for )[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
        then left(actor, -36) || app.shown_user(right(actor, 36)) else actor end
$$;
revoke all on function app.shown_user(text), app.shown_actor(text) from public;
grant execute on function app.shown_user(text), app.shown_actor(text) to knowhow_tenant, knowhow_admin;

-- SETTINGS

-- Statements that delete and enqueue for all tenants read settings with these functions, as the program does: an unusable setting has
-- its default. Without them one bad setting of one tenant would fail the statement for all.

-- A whole number from `lowest` to `highest`; null for anything else.
create function app.whole_setting(setting jsonb, lowest integer, highest integer) returns integer
language sql immutable parallel safe set search_path = pg_catalog
return case when jsonb_typeof(setting) = 'number' and setting::text ~ '^[0-9]{1,9}$'
            then case when setting::integer between lowest and highest then setting::integer end end;
revoke all on function app.whole_setting(jsonb, integer, integer) from public;
grant execute on function app.whole_setting(jsonb, integer, integer) to knowhow_system;

-- The number of days that rows are kept. An unusable setting means the longest time: a later release may have stored it, and
-- deleted rows are lost.
create function app.retention_days(setting jsonb, lowest integer, fallback integer) returns integer
language sql immutable parallel safe set search_path = pg_catalog
return case when coalesce(jsonb_typeof(setting), 'null') = 'null' then fallback
            else coalesce(app.whole_setting(setting, lowest, 3650), 3650) end;
revoke all on function app.retention_days(jsonb, integer, integer) from public;
grant execute on function app.retention_days(jsonb, integer, integer) to knowhow_system;

-- True or false; the default for anything else.
create function app.flag_setting(setting jsonb, fallback boolean) returns boolean
language sql immutable parallel safe set search_path = pg_catalog
return case when jsonb_typeof(setting) = 'boolean' then setting::boolean else fallback end;
revoke all on function app.flag_setting(jsonb, boolean) from public;
grant execute on function app.flag_setting(jsonb, boolean) to knowhow_system;

reset role;
