set local role knowhow_owner;

-- What the scanner has found in skills that are live. A skill without findings has no row.
create table skill_scans (
    tenant_id uuid not null,
    user_id uuid not null,
    skill_id uuid not null,
    -- The state that was read; null where only a change of the skill was, so that the whole is still to be read.
    digest bytea,
    -- The version of the rules.
    rules integer not null,
    verdict text not null check (verdict in ('review', 'quarantine', 'reject')),
    findings jsonb not null,
    scanned_at timestamptz not null,
    primary key (tenant_id, user_id, skill_id),
    foreign key (tenant_id, user_id, skill_id) references skills on delete cascade
);
select app.protect('skill_scans');
select app.open_to_system('skill_scans');
grant select, insert, update, delete on skill_scans to knowhow_tenant, knowhow_admin;
grant select (tenant_id, user_id, skill_id, digest) on skill_scans to knowhow_system;
grant select (digest) on skills to knowhow_system;

-- The rules that all of a user's skills were read with. A user who only has lent starters has nothing to read.
alter table user_catalogs add column scanned_rules integer not null default 0;
create index user_catalogs_by_rules on user_catalogs (scanned_rules) where starters_at is null;

-- Finds what the scanner itself has proposed to remove.
create index submissions_of_skill on submissions (skill_id, user_id, tenant_id) where skill_id is not null;

reset role;
