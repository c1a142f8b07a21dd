set local role knowhow_owner;

-- Changes of skills on their way through review. What waits here is in no list, search, embedding or snapshot, and reserves
-- no name. The document and the files are the proposed ones, whole: approval is of exactly these bytes.
create table submissions (
    tenant_id uuid not null,
    user_id uuid not null,
    submission_id uuid not null,
    -- The skill that it changes; null for one that is to be new.
    skill_id uuid,
    name text collate "C" not null,
    kind text not null check (kind in ('save', 'patch', 'import', 'enrich', 'merge', 'optimize', 'rollback', 'sync', 'delete')),
    state text not null
        check (state in ('needs_review', 'approved', 'rejected', 'stale', 'withdrawn', 'expired')),
    source text not null,
    submitter text not null,
    session text,
    reason text,
    -- The skill as it was when the change was proposed; 0 and null where there was none.
    base_version integer not null,
    base_digest bytea,
    -- The digest of the state that it makes; null where it deletes.
    result_digest bytea,
    document text,
    resources jsonb not null default '[]',
    pinned boolean,
    request_digest bytea,
    derived boolean not null default false,
    successor_id uuid,
    successor_name text,
    tainted boolean not null,
    tainted_in text[] not null default '{}',
    tainted_by text[] not null default '{}',
    checks jsonb not null,
    bytes bigint not null,
    decided_by text,
    comment text,
    applied_version integer,
    created_at timestamptz not null,
    decided_at timestamptz,
    expires_at timestamptz not null,
    notified_at timestamptz,
    primary key (tenant_id, user_id, submission_id),
    foreign key (tenant_id, user_id) references users
);
create index submissions_waiting on submissions (tenant_id, user_id, submission_id) where state = 'needs_review';
create index submissions_of_tenant on submissions (tenant_id, submission_id);
create index submissions_of_result on submissions (tenant_id, user_id, name, result_digest);
create index submissions_by_expiry on submissions (expires_at);
select app.protect('submissions');
select app.open_to_system('submissions');
grant select, insert, update on submissions to knowhow_tenant, knowhow_admin;
grant select (tenant_id, user_id, submission_id, state, expires_at), update (state, decided_at, document, resources, expires_at), delete
    on submissions to knowhow_system;

-- Files of a submission that the user has not stored otherwise.
create table submission_files (
    tenant_id uuid not null,
    user_id uuid not null,
    submission_id uuid not null,
    digest bytea not null,
    content bytea not null,
    primary key (tenant_id, user_id, submission_id, digest),
    foreign key (tenant_id, user_id, submission_id) references submissions on delete cascade
);
select app.protect('submission_files');
select app.open_to_system('submission_files');
grant select, insert, delete on submission_files to knowhow_tenant, knowhow_admin;
grant select (tenant_id, user_id, submission_id), delete on submission_files to knowhow_system;

-- A version that a person lets in by a submission is approved as it is written.
grant update (approved_by, approved_at) on skill_versions to knowhow_tenant;

-- Refuses a tainted text where the tenant has such texts reviewed. COMMIT is on the wire behind the write that asks, so it
-- raises: nothing of the transaction is kept, and the service writes a submission instead.
create function app.admit(tainted boolean, is_reviewed boolean) returns boolean language plpgsql set search_path = pg_catalog as $$
begin
    if tainted and is_reviewed then
        raise exception 'a tainted text waits for review' using errcode = 'KH002';
    end if;
    return true;
end
$$;
revoke all on function app.admit(boolean, boolean) from public;
grant execute on function app.admit(boolean, boolean) to knowhow_tenant, knowhow_admin;

reset role;
