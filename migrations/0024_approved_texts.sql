set local role knowhow_owner;

-- Who let a tainted memory or version of the soul in. Their text never changes, so the row is what was read. actor is who wrote
-- the memory; null where nobody noted it.
alter table memories add column actor text, add column approved_by text, add column approved_at timestamptz;
alter table souls add column approved_by text, add column approved_at timestamptz;
grant update (approved_by, approved_at) on memories, souls to knowhow_tenant;

-- As before, but what a person has approved is not marked again.

-- Marks a session as having read what the sources say, for good, and with it all that was written in it: skills and what was
-- made or copied of them, memories, souls, title and summary. Null where the user has no such session; else whether the mark
-- says anything new. The catalogue's row comes first, as with every write to skills, so nobody waits in a circle.
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
    shown := app.mark_copies(marked.started_at) or shown;
    if shown then
        update user_catalogs c
        set revision = c.revision + 1, snapshot_floor = c.revision + 1, marked_at = noted_at
        where c.tenant_id = app.tenant_id() and c.user_id = app.user_id();
    end if;
    return true;
end $$;

-- Marks what is written since then and has passages of tainted texts: copies that were made before the mark came. Of the
-- newest texts as many as are compared.
create or replace function app.mark_copies(since timestamptz) returns boolean
language plpgsql volatile set search_path = pg_catalog, public as $$
declare
    one record;
    shown boolean := false;
begin
    if not exists (select from tainted_passages p where p.tenant_id = app.tenant_id() and p.user_id = app.user_id()) then
        return false;
    end if;
    for one in
        select s.skill_id from skills s
        where s.tenant_id = app.tenant_id() and s.user_id = app.user_id() and s.updated_at >= since and not s.tainted
          and s.starter_id is null
        order by s.updated_at desc limit app.most_compared()
    loop
        shown := app.mark_if_copied(one.skill_id, since) or shown;
    end loop;
    with copies as (
        update memories m set tainted = true
        where m.tenant_id = app.tenant_id() and m.user_id = app.user_id() and not m.tainted and m.approved_at is null
          and m.created_at >= since
          and m.memory_id in (select n.memory_id from memories n
                              where n.tenant_id = app.tenant_id() and n.user_id = app.user_id() and n.created_at >= since
                              order by n.memory_id desc limit 1000)
          and app.has_tainted(app.passages(convert_to(m.content, 'UTF8')))
        returning m.memory_id
    )
    select shown or count(*) > 0 into shown from copies;
    with copies as (
        update souls o set tainted = true
        where o.tenant_id = app.tenant_id() and o.user_id = app.user_id() and not o.tainted and o.approved_at is null
          and o.created_at >= since
          and app.has_tainted(app.passages(convert_to(o.content, 'UTF8')))
        returning o.version
    )
    select shown or count(*) > 0 into shown from copies;
    return shown;
end $$;

reset role;
