set local role knowhow_owner;

-- What a session proposed is marked with what it wrote: the reviewer sees it, and its words are known where they are copied to.
-- version is 0 for a submission, as for a memory.
alter table session_texts
    drop constraint session_texts_kind_check,
    add check (kind in ('skill', 'memory', 'soul', 'submission'));

-- The passages that a submission brings, its files by their digests: those of a clean state that it was made from did not come
-- with it.
create function app.submitted_passages(submission uuid) returns bigint[]
language sql stable set search_path = pg_catalog, public as $$
    with proposed as (
        select p.skill_id, p.base_version, convert_to(p.document, 'UTF8') as document from submissions p
        where p.tenant_id = app.tenant_id() and p.user_id = app.user_id() and p.submission_id = submission
    ), files as (
        select f.digest, f.content from submission_files f
        where f.tenant_id = app.tenant_id() and f.user_id = app.user_id() and f.submission_id = submission
    ), base as (
        select coalesce(t.document, r.content) as document from proposed p
        join skill_versions v on v.tenant_id = app.tenant_id() and v.user_id = app.user_id() and v.skill_id = p.skill_id
            and v.version = p.base_version and not v.tainted
        left join starter_texts t on t.starter_id = v.starter_id
        left join skill_resources r on r.tenant_id = app.tenant_id() and r.user_id = app.user_id() and r.digest = v.document_digest
    )
    select array(
        select unnest(app.passages(p.document)) from proposed p
        union select app.passage(sha256(p.document)) from proposed p
        union select unnest(app.passages(f.content)) from files f
        union select app.passage(f.digest) from files f
        except select unnest(app.passages(b.document)) from base b)
$$;

-- Marks what was proposed in a session, whatever became of it but an approval, which is a person's word.
create function app.mark_submissions(marked_session uuid) returns void
language plpgsql volatile set search_path = pg_catalog, public as $$
declare
    one record;
begin
    for one in
        update submissions p
        set tainted = true, tainted_in = app.merge_some(p.tainted_in, array[marked_session::text]),
            tainted_by = app.merge_some(p.tainted_by, s.tainted_by)
        from session_texts w
        join sessions s on s.tenant_id = w.tenant_id and s.user_id = w.user_id and s.session_id = w.session_id
        where w.tenant_id = app.tenant_id() and w.user_id = app.user_id() and w.session_id = marked_session
          and w.kind = 'submission' and p.tenant_id = w.tenant_id and p.user_id = w.user_id and p.submission_id = w.text_id
          and not p.tainted and p.state <> 'approved'
        returning p.submission_id
    loop
        perform app.keep_passages(app.submitted_passages(one.submission_id), one.submission_id, 0);
    end loop;
end $$;

-- As before, and with what was proposed in the session.

-- Marks a session as having read what the sources say, for good, and with it all that was written or proposed in it: skills
-- and what was made or copied of them, submissions, memories, souls, title and summary. Null where the user has no such session;
-- else whether the mark says anything new. The catalogue's row comes first, as with every write to skills, so nobody waits
-- in a circle.
create or replace function app.mark_session(marked_session uuid, sources text[], noted_at timestamptz) returns boolean
language plpgsql volatile set search_path = pg_catalog, public as $$
declare
    marked record;
    one uuid;
    is_new boolean;
    shown boolean := false;
begin
    perform from user_catalogs c where c.tenant_id = app.tenant_id() and c.user_id = app.user_id() for update;
    select s.tainted_by, s.started_at into marked from sessions s
    where s.tenant_id = app.tenant_id() and s.user_id = app.user_id() and s.session_id = marked_session
    for update;
    if not found then
        return null;
    end if;
    is_new := not sources <@ marked.tainted_by and cardinality(marked.tainted_by) < 64;
    -- However many sources there are, the first ones tell enough, and the row stays small; the same in a turn.
    if is_new then
        update sessions s set tainted_by = array(select distinct unnest(s.tainted_by || sources) order by 1)
        where s.tenant_id = app.tenant_id() and s.user_id = app.user_id() and s.session_id = marked_session;
    end if;
    if not is_new and marked.tainted_by <> '{}' then
        return false;
    end if;
    with marks as (
        update memories m set tainted = true from session_texts w
        where w.tenant_id = app.tenant_id() and w.user_id = app.user_id() and w.session_id = marked_session and w.kind = 'memory'
          and m.tenant_id = w.tenant_id and m.user_id = w.user_id and m.memory_id = w.text_id and not m.tainted
          and m.approved_at is null
        returning m.memory_id, m.content
    ), souled as (
        update souls o set tainted = true from session_texts w
        where w.tenant_id = app.tenant_id() and w.user_id = app.user_id() and w.session_id = marked_session and w.kind = 'soul'
          and o.tenant_id = w.tenant_id and o.user_id = w.user_id and o.version = w.version and not o.tainted
          and o.approved_at is null
        returning o.version, o.content
    ), kept as (
        select app.keep_passages(app.passages(convert_to(content, 'UTF8')), memory_id, 0) from marks
        union all
        select app.keep_passages(app.passages(convert_to(content, 'UTF8')), app.user_id(), version) from souled
    )
    select count(*) > 0 into shown from kept;
    update conversation_summaries c set tainted = true
    where c.tenant_id = app.tenant_id() and c.user_id = app.user_id() and c.session_id = marked_session and not c.tainted;
    shown := shown or found;
    for one in
        select distinct w.text_id from session_texts w
        where w.tenant_id = app.tenant_id() and w.user_id = app.user_id() and w.session_id = marked_session and w.kind = 'skill'
    loop
        shown := app.mark_skill(one) or shown;
    end loop;
    perform app.mark_submissions(marked_session);
    shown := app.mark_copies(marked.started_at) or shown;
    if shown then
        update user_catalogs c
        set revision = c.revision + 1, snapshot_floor = c.revision + 1, marked_at = noted_at
        where c.tenant_id = app.tenant_id() and c.user_id = app.user_id();
    end if;
    return true;
end $$;

-- Marks the current version of a skill where it has passages of tainted texts that its last version before `since` had not, nor
-- the last one that a person approved: what is made of that is clean, in whatever order marks come. Whether it has.
create or replace function app.mark_if_copied(skill uuid, since timestamptz) returns boolean
language plpgsql volatile set search_path = pg_catalog, public as $$
begin
    update skill_versions v
    set tainted = true, tainted_in = o.tainted_in, tainted_by = o.tainted_by
    from skills s, lateral (
        select f.tainted_in, f.tainted_by
        from tainted_passages p
        left join skill_versions f on f.tenant_id = app.tenant_id() and f.user_id = app.user_id()
            and f.skill_id = p.source_id and f.version = p.source_version
        where p.tenant_id = app.tenant_id() and p.user_id = app.user_id()
          and p.passage = any (app.added_passages(skill, s.version, (
              select max(b.version) from skill_versions b
              where b.tenant_id = app.tenant_id() and b.user_id = app.user_id() and b.skill_id = skill
                and (b.created_at < since or b.approved_at is not null))))
        order by f.version is null limit 1) o
    where s.tenant_id = app.tenant_id() and s.user_id = app.user_id() and s.skill_id = skill
      and v.tenant_id = s.tenant_id and v.user_id = s.user_id and v.skill_id = skill and v.version = s.version
      and not v.tainted and v.approved_at is null;
    return app.spread_in_skill(skill);
end $$;

revoke all on function app.submitted_passages(uuid), app.mark_submissions(uuid) from public;
grant execute on function app.submitted_passages(uuid), app.mark_submissions(uuid) to knowhow_tenant, knowhow_admin;

reset role;
