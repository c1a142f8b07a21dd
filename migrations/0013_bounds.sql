-- What a user can store is bounded: history and archive are counted and leave by age, what is deleted is removed in steps,
-- and no row holds a text that another one holds already.

set local role knowhow_owner;

-- The policies admit nobody to the rows of all users, so they are not forced upon the owner until the end.
alter table skills no force row level security;
alter table skill_versions no force row level security;
alter table skill_resources no force row level security;
alter table archived_skills no force row level security;
alter table user_catalogs no force row level security;
alter table usage_events no force row level security;
alter table sessions no force row level security;
alter table messages no force row level security;
alter table turns no force row level security;
alter table tenants no force row level security;
alter table users no force row level security;

-- 1. History.

-- How large a row is, without reading what it holds: the system role, which clears up, may see no text.
alter table skill_resources add column bytes integer generated always as (octet_length(content)) stored;
alter table skill_versions add column bytes integer generated always as (
    300 + octet_length(resources::text) + octet_length(actor) + coalesce(octet_length(session), 0)) stored;

-- The versions of a deleted skill stay where they are, so a skill of any number of versions is deleted at once: its entry in
-- the archive holds the row of `skills` alone. Nobody finds versions without such a row.
alter table skill_versions drop constraint skill_versions_tenant_id_user_id_skill_id_fkey;
insert into skill_versions (tenant_id, user_id, skill_id, version, change, actor, session, tainted, request_digest, digest,
    document_digest, document_bytes, resources, created_at, starter_id)
select v.tenant_id, v.user_id, v.skill_id, v.version, v.change, v.actor, v.session, v.tainted, v.request_digest, v.digest,
       v.document_digest, v.document_bytes, v.resources, v.created_at, v.starter_id
from archived_skills a cross join lateral jsonb_populate_recordset(null::skill_versions, a.versions) v;

alter table archived_skills
    add column version integer,
    add column version_count integer,
    add column bytes integer generated always as (500 + octet_length(state::text)) stored;
update archived_skills set version = (state ->> 'version')::integer, version_count = jsonb_array_length(versions);
alter table archived_skills
    alter column version set not null,
    alter column version_count set not null,
    drop column versions,
    drop column digests;

-- Which files, SKILL.md aside, the history of each skill holds, and until which version: 2147483647 for a file of the
-- current one. So a save writes what it changed, and whether anything refers to a file is one look into an index. A skill's
-- versions leave from the oldest on, so a file is of no more use once the version it was last in has left.
create table skill_files (
    tenant_id uuid not null,
    user_id uuid not null,
    digest bytea not null,
    skill_id uuid not null,
    last_version integer not null,
    primary key (tenant_id, user_id, digest, skill_id),
    foreign key (tenant_id, user_id, digest) references skill_resources
);
create index skill_files_of_skill on skill_files (tenant_id, user_id, skill_id, last_version);
insert into skill_files (tenant_id, user_id, digest, skill_id, last_version)
select v.tenant_id, v.user_id, r.digest, v.skill_id,
       max(case when v.version >= coalesce(s.version, a.version) then 2147483647 else v.version end)
from skill_versions v
cross join lateral jsonb_array_elements(v.resources) e
join skill_resources r on r.tenant_id = v.tenant_id and r.user_id = v.user_id and r.digest = decode(e ->> 'digest', 'hex')
left join skills s on s.tenant_id = v.tenant_id and s.user_id = v.user_id and s.skill_id = v.skill_id
left join archived_skills a on a.tenant_id = v.tenant_id and a.user_id = v.user_id and a.skill_id = v.skill_id
group by 1, 2, 3, 4;
select app.protect('skill_files');
select app.open_to_system('skill_files');
grant select, insert, update, delete on skill_files to knowhow_tenant, knowhow_admin;
grant select, delete on skill_files to knowhow_system;

-- Bytes of all files, versions and deleted skills that are kept for the user.
alter table user_catalogs add column stored_bytes bigint not null default 0;
update user_catalogs c
set stored_bytes = coalesce((select sum(r.bytes) from skill_resources r
                             where r.tenant_id = c.tenant_id and r.user_id = c.user_id), 0)
                 + coalesce((select sum(v.bytes) from skill_versions v
                             where v.tenant_id = c.tenant_id and v.user_id = c.user_id), 0)
                 + coalesce((select sum(a.bytes) from archived_skills a
                             where a.tenant_id = c.tenant_id and a.user_id = c.user_id), 0);

-- Removes the versions of skills up to one of each, and the files that nothing refers to then; says how many files. The
-- caller has locked the user's catalogue row: a writer that is about to use a file again stands behind it.
create function app.forget_versions(of_tenant uuid, of_user uuid, skills uuid[], up_to integer[]) returns integer
language plpgsql set search_path = pg_catalog, public as $$
declare
    unused bytea[];
    freed bigint;
    freed_files bigint;
    files integer;
begin
    with versions as (
        delete from skill_versions v using unnest(skills, up_to) as g (skill_id, version)
        where v.tenant_id = of_tenant and v.user_id = of_user and v.skill_id = g.skill_id and v.version <= g.version
        returning v.document_digest as digest, v.bytes
    ), others as (
        delete from skill_files f using unnest(skills, up_to) as g (skill_id, version)
        where f.tenant_id = of_tenant and f.user_id = of_user and f.skill_id = g.skill_id and f.last_version <= g.version
        returning f.digest
    )
    select coalesce((select sum(v.bytes) from versions v), 0),
           array(select v.digest from versions v where v.digest is not null union select o.digest from others o)
    into freed, unused;
    with gone as (
        delete from skill_resources r using unnest(unused) as u (digest)
        where r.tenant_id = of_tenant and r.user_id = of_user and r.digest = u.digest
          and not exists (select from skill_versions v
                          where v.tenant_id = of_tenant and v.user_id = of_user and v.document_digest = r.digest)
          and not exists (select from skill_files f
                          where f.tenant_id = of_tenant and f.user_id = of_user and f.digest = r.digest)
        returning r.bytes
    )
    select count(*), coalesce(sum(g.bytes), 0) into files, freed_files from gone g;
    update user_catalogs c set stored_bytes = c.stored_bytes - freed - freed_files
    where c.tenant_id = of_tenant and c.user_id = of_user;
    return files;
end $$;

-- One step of removing what the user deleted and is past its time: at most `step` versions of the entry that is due longest.
-- `finished` says whether that was the last of it, and is null where nothing is due. The caller has locked the user's
-- catalogue row.
create function app.clear_deleted(of_tenant uuid, of_user uuid, due timestamptz, step integer,
    out finished boolean, out files integer)
language plpgsql set search_path = pg_catalog, public as $$
declare
    entry record;
    oldest record;
begin
    select a.archive_id, a.skill_id, a.bytes into entry from archived_skills a
    where a.tenant_id = of_tenant and a.user_id = of_user and a.purge_at <= due
    order by a.purge_at, a.archive_id limit 1;
    if not found then
        return;
    end if;
    select count(*) as versions, max(o.version) as last into oldest from (
        select v.version from skill_versions v
        where v.tenant_id = of_tenant and v.user_id = of_user and v.skill_id = entry.skill_id
        order by v.version limit step) o;
    finished := oldest.versions < step;
    files := app.forget_versions(of_tenant, of_user, array[entry.skill_id],
                                 array[case when finished then 2147483647 else oldest.last end]);
    if finished then
        delete from archived_skills a
        where a.tenant_id = of_tenant and a.user_id = of_user and a.archive_id = entry.archive_id;
        update user_catalogs c set stored_bytes = c.stored_bytes - entry.bytes
        where c.tenant_id = of_tenant and c.user_id = of_user;
    end if;
end $$;
revoke all on function app.forget_versions(uuid, uuid, uuid[], integer[]),
    app.clear_deleted(uuid, uuid, timestamptz, integer) from public;
grant execute on function app.forget_versions(uuid, uuid, uuid[], integer[]),
    app.clear_deleted(uuid, uuid, timestamptz, integer) to knowhow_tenant, knowhow_admin, knowhow_system;

grant delete on skill_versions to knowhow_tenant, knowhow_admin;
grant select (skill_id, version, bytes), delete on skill_versions to knowhow_system;
grant select (bytes) on skill_resources to knowhow_system;
grant update (stored_bytes) on user_catalogs to knowhow_system;
-- A user's transactions see of the archive when its entries are due and how large they are, so that the oldest can leave.
grant select (archive_id, skill_id, version, purge_at, bytes), update (purge_at), delete on archived_skills to knowhow_tenant;
grant update (purge_at) on archived_skills to knowhow_admin;
grant select (skill_id, bytes) on archived_skills to knowhow_system;

-- 2. Uses. A day's loads of a skill are one row, and each reported use one of at most 200 bytes: of the caller's words that
-- make a use the same, a digest is kept.

alter table usage_events
    add column times integer not null default 1,
    add column use_digest bytea not null default '' check (length(use_digest) in (0, 16));
update usage_events
set use_digest = substr(sha256(convert_to(jsonb_build_array(session_key, memory_id)::text, 'UTF8')), 1, 16)
where kind = 'used';
with loads as (
    delete from usage_events where kind = 'view' returning *
)
insert into usage_events (tenant_id, user_id, event_id, skill_id, version, kind, day, at, times)
select tenant_id, user_id, min(event_id::text)::uuid, skill_id, max(version), 'view', day, max(at), count(*)
from loads group by tenant_id, user_id, skill_id, day;
drop index usage_events_once, usage_events_of_skill;
alter table usage_events
    drop constraint usage_events_pkey,
    drop column event_id,
    drop column session_key,
    drop column memory_id,
    drop column project,
    drop column runtime_path,
    add primary key (tenant_id, user_id, day, skill_id, kind, use_digest),
    alter column use_digest drop default;
-- Every load changes its day's row in place.
alter table usage_events set (fillfactor = 80);
grant select (day, skill_id, kind, use_digest) on usage_events to knowhow_system;

-- 3. Conversations.

-- A turn refers to the texts of skills that it brought: `answer` holds the rest, and answer_digest is of the bytes that went
-- out. Those of before hold the whole answer, and no digest.
alter table turns add column answer_digest bytea check (length(answer_digest) = 32);
-- What its messages and turns take, and how many replies the current turn has.
alter table sessions
    add column log_bytes bigint not null default 0,
    add column turn_replies integer not null default 0;
update sessions s
set log_bytes = coalesce((select sum(octet_length(m.content)) from messages m
                          where m.tenant_id = s.tenant_id and m.user_id = s.user_id and m.session_id = s.session_id), 0)
              + coalesce((select sum(octet_length(t.answer)) from turns t
                          where t.tenant_id = s.tenant_id and t.user_id = s.user_id and t.session_id = s.session_id), 0);
alter table snapshots add column bytes integer generated always as (octet_length(content)) stored;
-- The same text is one row, whatever budget and form it was rendered for.
create index snapshots_by_content on snapshots (tenant_id, user_id, sha256);
grant delete on sessions, snapshots, souls, conversation_summaries to knowhow_tenant, knowhow_admin;

-- 4. Users of a tenant, counted where they are made.
alter table tenants add column user_count integer not null default 0;
update tenants t set user_count = (select count(*) from users u where u.tenant_id = t.tenant_id);

alter table skills force row level security;
alter table skill_versions force row level security;
alter table skill_resources force row level security;
alter table archived_skills force row level security;
alter table user_catalogs force row level security;
alter table usage_events force row level security;
alter table sessions force row level security;
alter table messages force row level security;
alter table turns force row level security;
alter table tenants force row level security;
alter table users force row level security;

reset role;
