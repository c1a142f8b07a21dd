set local role knowhow_owner;

-- WHERE TEXT CAME FROM

-- A version is tainted while any text in it came from a tainted version and no person has approved it. tainted_in names the
-- sessions that its taint came in by, tainted_by what they had read; both are carried along. `derived` says that it was made
-- by changing the version before it, so that it has that one's text; null where nobody noted it.
alter table skill_versions
    add column tainted_in text[],
    add column tainted_by text[],
    add column derived boolean,
    add column approved_by text,
    add column approved_at timestamptz;
grant update (tainted, tainted_in, tainted_by) on skill_versions to knowhow_tenant, knowhow_admin;
grant update (approved_by, approved_at) on skill_versions to knowhow_admin;
grant update (tainted) on memories, souls to knowhow_tenant, knowhow_admin;

-- The taint of the current version, where index and recall read it.
alter table skills add column tainted boolean not null default false;
create index skills_tainted on skills (tenant_id, user_id, skill_id) where tainted;

-- When something that prompts may show was last marked: what was rendered before does not say so.
alter table user_catalogs add column marked_at timestamptz;

-- What was written in a session, so that a mark that comes later finds it. kind is skill, memory or soul; version is 0 for a
-- memory, and text_id the user's own id for a soul.
create table session_texts (
    tenant_id uuid not null,
    user_id uuid not null,
    session_id uuid not null,
    kind text not null check (kind in ('skill', 'memory', 'soul')),
    text_id uuid not null,
    version integer not null,
    primary key (tenant_id, user_id, session_id, kind, text_id, version),
    foreign key (tenant_id, user_id, session_id) references sessions on delete cascade
);
create index session_texts_of_text on session_texts (tenant_id, user_id, text_id);
select app.protect('session_texts');
grant select, insert on session_texts to knowhow_tenant, knowhow_admin;

-- Longer sentences and lines of tainted texts, and whole files, as 8 bytes of a digest: text that is copied keeps its taint.
-- source_id and source_version are the text where it was first seen.
create table tainted_passages (
    tenant_id uuid not null,
    user_id uuid not null,
    passage bigint not null,
    source_id uuid not null,
    source_version integer not null,
    primary key (tenant_id, user_id, passage),
    foreign key (tenant_id, user_id) references users
);
create index tainted_passages_of_source on tainted_passages (tenant_id, user_id, source_id, source_version);
select app.protect('tainted_passages');
grant select, insert, delete on tainted_passages to knowhow_tenant, knowhow_admin;

-- What there is by now. The policies are forced upon the owner too, and admit nobody to the rows of all users.
alter table skills no force row level security;
alter table skill_versions no force row level security;
alter table sessions no force row level security;
alter table session_texts no force row level security;
alter table memories no force row level security;
alter table souls no force row level security;

update skills s set tainted = true
from skill_versions v
where v.tenant_id = s.tenant_id and v.user_id = s.user_id and v.skill_id = s.skill_id and v.version = s.version and v.tainted;
update skill_versions set tainted_in = array[session] where tainted and session is not null;

insert into session_texts (tenant_id, user_id, session_id, kind, text_id, version)
select w.tenant_id, w.user_id, s.session_id, w.kind, w.text_id, w.version
from (select tenant_id, user_id, session, 'skill' as kind, skill_id as text_id, version, created_at from skill_versions
      union all
      select tenant_id, user_id, session, 'memory', memory_id, 0, created_at from memories
      union all
      select tenant_id, user_id, session, 'soul', user_id, version, created_at from souls) w
join sessions s on s.tenant_id = w.tenant_id and s.user_id = w.user_id
    -- A key is used again by later sessions.
    and (s.session_id::text = w.session
         or s.key = w.session and w.created_at >= s.started_at and w.created_at <= coalesce(s.ended_at, 'infinity'))
where w.session is not null
on conflict do nothing;

alter table skills force row level security;
alter table skill_versions force row level security;
alter table sessions force row level security;
alter table session_texts force row level security;
alter table memories force row level security;
alter table souls force row level security;

-- Eight bytes of a digest as a number.
create function app.passage(digest bytea) returns bigint language sql immutable strict parallel safe set search_path = pg_catalog
return ('x' || encode(substr(digest, 1, 8), 'hex'))::bit(64)::bigint;

-- The passages of a text: its sentences and lines of 32 bytes or more, whatever their case, blanks and markup. What is no
-- text has none, and is known by its digest alone.
create function app.passages(content bytea) returns bigint[] language plpgsql immutable strict parallel safe
set search_path = pg_catalog as $$
declare
    said text;
begin
    begin
        said := convert_from(content, 'UTF8');
    exception when character_not_in_repertoire or untranslatable_character then
        return '{}';
    end;
    return array(
        -- All of it at once: line by line it takes twice as long.
        select distinct ('x' || left(md5(p.part), 16))::bit(64)::bigint
        from string_to_table(
            translate(lower(said), '.!?;:。！？；：' || E' \t\r*_`#>|~"''()[]{},-', repeat(E'\n', 10)), E'\n') as p (part)
        where octet_length(p.part) >= 32);
end $$;

-- At most eight of two lists, each once: the first ones tell enough, and the row stays small.
create function app.merge_some(first text[], more text[]) returns text[] language sql immutable parallel safe set search_path = pg_catalog
return array(
    select item from (
        select item, min(place) as place from unnest(coalesce(first, '{}') || coalesce(more, '{}')) with ordinality as l (item, place)
        group by item) each_once
    order by place limit 8);

-- The sessions that a request names, by id or key, and what they have read. A name may be the id of one session and the key of
-- another: both count. One that nobody knows counts as tainted. The rows stay locked: whoever marks one of them waits for
-- the text that is written here, and then finds it. VOLATILE, so that each statement sees what was committed by then.
create function app.find_taint(named text[], out sessions uuid[], out tainted_in text[], out tainted_by text[])
language plpgsql volatile set search_path = pg_catalog, public as $$
declare
    name text;
    found_one record;
    is_known boolean;
begin
    sessions := '{}';
    tainted_in := '{}';
    tainted_by := '{}';
    foreach name in array coalesce(named, '{}') loop
        is_known := false;
        for found_one in
            select s.session_id, s.tainted_by from sessions s
            where s.tenant_id = app.tenant_id() and s.user_id = app.user_id() and s.session_id in (
                (case when pg_input_is_valid(name, 'uuid') then name end)::uuid,
                (select k.session_id from sessions k
                 where k.tenant_id = app.tenant_id() and k.user_id = app.user_id() and k.key = name
                 order by k.session_id desc limit 1))
            for share
        loop
            is_known := true;
            sessions := sessions || found_one.session_id;
            if found_one.tainted_by <> '{}' then
                tainted_in := app.merge_some(tainted_in, array[found_one.session_id::text]);
                tainted_by := app.merge_some(tainted_by, found_one.tainted_by);
            end if;
        end loop;
        if not is_known then
            tainted_in := app.merge_some(tainted_in, array[name]);
            tainted_by := app.merge_some(tainted_by, array['a session that is not known']);
        end if;
    end loop;
    sessions := array(select distinct unnest(sessions));
end $$;

-- Keeps the passages of a tainted text, within bounds: of a long text the 512 smallest, which are as good as any, and of one
-- user 50,000. In one order, so that two writers do not wait for each other.
create function app.keep_passages(passages bigint[], source uuid, source_version integer) returns void
language plpgsql volatile set search_path = pg_catalog, public as $$
begin
    if (select count(*) from (select from tainted_passages p
                              where p.tenant_id = app.tenant_id() and p.user_id = app.user_id() limit 50000) kept) = 50000 then
        return;
    end if;
    insert into tainted_passages (tenant_id, user_id, passage, source_id, source_version)
    select app.tenant_id(), app.user_id(), p, source, source_version from unnest(passages) p order by p limit 512
    on conflict do nothing;
end $$;

-- Whether any of the passages is one of a tainted text.
create function app.has_tainted(passages bigint[]) returns boolean
language sql stable set search_path = pg_catalog, public
    return exists (select from tainted_passages p
                   where p.tenant_id = app.tenant_id() and p.user_id = app.user_id() and p.passage = any (passages));

-- Whether a text that is about to be written is tainted, and by what: the sessions that the request names; the text that it
-- is made from (carried_in, carried_by, null where that is clean or nothing of it is left); passages of tainted texts in it.
-- base is a clean text that it replaces: what that has too did not come with this one. digests are those of all its files.
-- A tainted text leaves its passages.
create function app.weigh(named text[], carried boolean, carried_in text[], carried_by text[], texts bytea[], digests bytea[],
    base bytea, base_digests bytea[], source uuid, source_version integer,
    out tainted boolean, out sessions uuid[], out tainted_in text[], out tainted_by text[])
language plpgsql volatile set search_path = pg_catalog, public as $$
declare
    passages bigint[];
    known boolean;
begin
    select t.sessions, t.tainted_in, t.tainted_by into sessions, tainted_in, tainted_by from app.find_taint(named) t;
    tainted := coalesce(carried, false) or tainted_in <> '{}';
    if carried then
        tainted_in := app.merge_some(carried_in, tainted_in);
        tainted_by := app.merge_some(carried_by, tainted_by);
    end if;
    known := exists (select from tainted_passages p where p.tenant_id = app.tenant_id() and p.user_id = app.user_id());
    if not tainted and not known then
        return;
    end if;
    passages := array(
        select unnest(app.passages(f)) from unnest(texts) f
        union select app.passage(d) from unnest(digests) d
        except select unnest(app.passages(base))
        except select app.passage(d) from unnest(base_digests) d);
    if known and not tainted then
        select app.merge_some(v.tainted_in, '{}'), app.merge_some(v.tainted_by, '{}'), true
        into tainted_in, tainted_by, tainted
        from tainted_passages p
        left join skill_versions v on v.tenant_id = app.tenant_id() and v.user_id = app.user_id()
            and v.skill_id = p.source_id and v.version = p.source_version
        where p.tenant_id = app.tenant_id() and p.user_id = app.user_id() and p.passage = any (passages)
        order by v.version is null
        limit 1;
        tainted := coalesce(tainted, false);
        tainted_in := coalesce(tainted_in, '{}');
        tainted_by := coalesce(tainted_by, '{}');
    end if;
    if tainted then
        perform app.keep_passages(passages, source, source_version);
    end if;
end $$;

-- The passages that a version has and an earlier one had not, its files by their digests. A tainted earlier one takes
-- nothing away.
create function app.added_passages(skill uuid, of_version integer, since_version integer) returns bigint[]
language sql stable set search_path = pg_catalog, public as $$
    with texts as (
        select v.version, coalesce(t.document, r.content) as document,
               array(select decode(e ->> 'digest', 'hex') from jsonb_array_elements(v.resources) e) || sha256(coalesce(t.document, r.content)) as digests
        from skill_versions v
        left join starter_texts t on t.starter_id = v.starter_id
        left join skill_resources r on r.tenant_id = app.tenant_id() and r.user_id = app.user_id() and r.digest = v.document_digest
        where v.tenant_id = app.tenant_id() and v.user_id = app.user_id() and v.skill_id = skill
          and v.version in (of_version, since_version) and (v.version = of_version or not v.tainted)
    )
    select array(
        select unnest(app.passages(x.document)) from texts x where x.version = of_version
        union select app.passage(d) from texts x, unnest(x.digests) d where x.version = of_version
        except select unnest(app.passages(x.document)) from texts x where x.version < of_version
        except select app.passage(d) from texts x, unnest(x.digests) d where x.version < of_version)
$$;

-- Most texts that are compared where a mark spreads: beyond them later versions of a marked skill count as made of it.
create function app.most_compared() returns integer language sql immutable parallel safe
set search_path = pg_catalog return 64;

-- Takes the taint on to the later versions of a skill, from the first that is tainted, and to the skill itself. A version
-- that was made by changing a tainted one is tainted, a new text if it has passages of tainted texts. What a person has
-- approved stays approved, and what is made of that is clean. Whether the current version's taint has changed.
create function app.spread_in_skill(skill uuid) returns boolean
language plpgsql volatile set search_path = pg_catalog, public as $$
declare
    one record;
    before record;
    compared integer := 0;
    is_marked boolean := false;
    changed integer;
begin
    for one in
        select v.version, v.tainted, v.derived, v.approved_at, v.tainted_in, v.tainted_by from skill_versions v
        where v.tenant_id = app.tenant_id() and v.user_id = app.user_id() and v.skill_id = skill
          and v.version >= (select min(m.version) from skill_versions m
                            where m.tenant_id = app.tenant_id() and m.user_id = app.user_id() and m.skill_id = skill and m.tainted)
        order by v.version
    loop
        if not one.tainted and one.approved_at is null and is_marked then
            one.tainted := coalesce(one.derived, true) or compared >= app.most_compared();
            if not one.tainted then
                compared := compared + 1;
                one.tainted := app.has_tainted(app.added_passages(skill, one.version, one.version - 1));
            end if;
            if one.tainted then
                update skill_versions v
                set tainted = true, tainted_in = before.tainted_in, tainted_by = before.tainted_by
                where v.tenant_id = app.tenant_id() and v.user_id = app.user_id() and v.skill_id = skill and v.version = one.version;
                one.tainted_in := before.tainted_in;
                one.tainted_by := before.tainted_by;
            end if;
        end if;
        is_marked := one.tainted;
        before := one;
    end loop;
    update skills s set tainted = v.tainted
    from skill_versions v
    where s.tenant_id = app.tenant_id() and s.user_id = app.user_id() and s.skill_id = skill
      and v.tenant_id = s.tenant_id and v.user_id = s.user_id and v.skill_id = s.skill_id and v.version = s.version
      and s.tainted <> v.tainted;
    get diagnostics changed = row_count;
    return changed > 0;
end $$;

-- Marks versions of a skill as written in sessions that are tainted by now, and what was made of them.
create function app.mark_skill(skill uuid) returns boolean
language plpgsql volatile set search_path = pg_catalog, public as $$
declare
    one record;
begin
    for one in
        update skill_versions v
        set tainted = true, tainted_in = app.merge_some(v.tainted_in, m.tainted_in),
            tainted_by = app.merge_some(v.tainted_by, m.tainted_by)
        from (select w.version, array_agg(s.session_id::text) as tainted_in, min(s.tainted_by) as tainted_by
              from session_texts w
              join sessions s on s.tenant_id = w.tenant_id and s.user_id = w.user_id and s.session_id = w.session_id
              where w.tenant_id = app.tenant_id() and w.user_id = app.user_id() and w.text_id = skill and w.kind = 'skill'
                and s.tainted_by <> '{}'
              group by w.version) m
        where v.tenant_id = app.tenant_id() and v.user_id = app.user_id() and v.skill_id = skill
          and v.version = m.version and v.approved_at is null
        returning v.version
    loop
        perform app.keep_passages(app.added_passages(skill, one.version, one.version - 1), skill, one.version);
    end loop;
    return app.spread_in_skill(skill);
end $$;

-- Marks a session as having read what the sources say, for good, and with it all that was written in it: skills and what was
-- made or copied of them, memories, souls, title and summary. Null where the user has no such session; else whether the mark
-- says anything new. The catalogue's row comes first, as with every write to skills, so nobody waits in a circle.
create function app.mark_session(marked_session uuid, sources text[], noted_at timestamptz) returns boolean
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
        returning m.memory_id, m.content
    ), souled as (
        update souls o set tainted = true from session_texts w
        where w.tenant_id = app.tenant_id() and w.user_id = app.user_id() and w.session_id = marked_session and w.kind = 'soul'
          and o.tenant_id = w.tenant_id and o.user_id = w.user_id and o.version = w.version and not o.tainted
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

-- Marks the current version of a skill where it has passages of tainted texts that its last version before `since` had not.
-- Whether it has.
create function app.mark_if_copied(skill uuid, since timestamptz) returns boolean
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
              where b.tenant_id = app.tenant_id() and b.user_id = app.user_id() and b.skill_id = skill and b.created_at < since)))
        order by f.version is null limit 1) o
    where s.tenant_id = app.tenant_id() and s.user_id = app.user_id() and s.skill_id = skill
      and v.tenant_id = s.tenant_id and v.user_id = s.user_id and v.skill_id = skill and v.version = s.version
      and not v.tainted and v.approved_at is null;
    return app.spread_in_skill(skill);
end $$;

-- Marks what is written since then and has passages of tainted texts: copies that were made before the mark came. Of the
-- newest texts as many as are compared.
create function app.mark_copies(since timestamptz) returns boolean
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
        where m.tenant_id = app.tenant_id() and m.user_id = app.user_id() and not m.tainted and m.created_at >= since
          and m.memory_id in (select n.memory_id from memories n
                              where n.tenant_id = app.tenant_id() and n.user_id = app.user_id() and n.created_at >= since
                              order by n.memory_id desc limit 1000)
          and app.has_tainted(app.passages(convert_to(m.content, 'UTF8')))
        returning m.memory_id
    )
    select shown or count(*) > 0 into shown from copies;
    with copies as (
        update souls o set tainted = true
        where o.tenant_id = app.tenant_id() and o.user_id = app.user_id() and not o.tainted and o.created_at >= since
          and app.has_tainted(app.passages(convert_to(o.content, 'UTF8')))
        returning o.version
    )
    select shown or count(*) > 0 into shown from copies;
    return shown;
end $$;

-- A name may be the id of one session and the key of another.
create or replace function app.is_tainted(session text) returns boolean language sql stable set search_path = pg_catalog, public
    return case when session is null then false else coalesce(
        (select bool_or(s.tainted_by <> '{}') from sessions s
         where s.tenant_id = app.tenant_id() and s.user_id = app.user_id() and s.session_id in (
             (case when pg_input_is_valid(session, 'uuid') then session end)::uuid,
             (select k.session_id from sessions k
              where k.tenant_id = app.tenant_id() and k.user_id = app.user_id() and k.key = session
              order by k.session_id desc limit 1))),
        true) end;

revoke all on function app.passage(bytea), app.passages(bytea), app.merge_some(text[], text[]), app.find_taint(text[]),
    app.keep_passages(bigint[], uuid, integer), app.has_tainted(bigint[]),
    app.weigh(text[], boolean, text[], text[], bytea[], bytea[], bytea, bytea[], uuid, integer),
    app.added_passages(uuid, integer, integer), app.most_compared(), app.spread_in_skill(uuid), app.mark_skill(uuid),
    app.mark_session(uuid, text[], timestamptz), app.mark_if_copied(uuid, timestamptz), app.mark_copies(timestamptz) from public;
grant execute on function app.passage(bytea), app.passages(bytea), app.merge_some(text[], text[]), app.find_taint(text[]),
    app.keep_passages(bigint[], uuid, integer), app.has_tainted(bigint[]),
    app.weigh(text[], boolean, text[], text[], bytea[], bytea[], bytea, bytea[], uuid, integer),
    app.added_passages(uuid, integer, integer), app.most_compared(), app.spread_in_skill(uuid), app.mark_skill(uuid),
    app.mark_session(uuid, text[], timestamptz), app.mark_if_copied(uuid, timestamptz), app.mark_copies(timestamptz) to knowhow_tenant, knowhow_admin;

-- As before, with the taint of the current version.
create or replace view skill_states with (security_invoker = true) as
select s.tenant_id, s.user_id, s.skill_id, s.name, coalesce(s.description, t.description) as description,
       coalesce(s.summary, t.summary) as summary, s.made_summary, coalesce(s.category, t.category) as category,
       coalesce(s.tags, t.tags) as tags, coalesce(s.triggers, t.triggers) as triggers,
       coalesce(s.see_also, t.see_also) as see_also, coalesce(s.role, t.role) as role,
       coalesce(s.attributes, t.attributes) as attributes, s.source, s.pinned, s.enriched, s.importance, s.decay_rate,
       s.version, coalesce(s.digest, t.digest) as digest, coalesce(s.document_digest, t.document_digest) as document_digest,
       coalesce(s.document_bytes, t.document_bytes) as document_bytes,
       coalesce(s.frontmatter_at_byte, t.frontmatter_at_byte) as frontmatter_at_byte,
       coalesce(s.frontmatter_end_at_byte, t.frontmatter_end_at_byte) as frontmatter_end_at_byte,
       coalesce(s.content_at_byte, t.content_at_byte) as content_at_byte, coalesce(s.resources, '[]') as resources,
       coalesce(s.resource_bytes, 0) as resource_bytes, s.created_at, s.updated_at,
       coalesce(s.frontmatter, t.frontmatter) as frontmatter, coalesce(r.content, t.document) as document, s.starter_id,
       false as lent, s.tainted
from skills s
left join starter_texts t on t.starter_id = s.starter_id
left join skill_resources r on r.tenant_id = s.tenant_id and r.user_id = s.user_id and r.digest = s.document_digest
union all
select c.tenant_id, c.user_id, starter_skill_id(c.user_id, t.name), t.name, t.description,
       t.summary, null, t.category,
       t.tags, t.triggers,
       t.see_also, t.role,
       t.attributes, 'starter', false, false, 0.7::real, 0.99::real,
       1, t.digest, t.document_digest,
       t.document_bytes,
       t.frontmatter_at_byte,
       t.frontmatter_end_at_byte,
       t.content_at_byte, '[]',
       0, c.starters_at, c.starters_at,
       t.frontmatter, t.document, t.starter_id,
       true, false
from user_catalogs c
join starter_releases b on b.release = c.starters_release
join starter_texts t on t.starter_id = b.starter_id
where c.starters_at is not null;
grant select on skill_states to knowhow_tenant, knowhow_admin;

-- THE TRAIL

-- Where a request came from: the transaction's origin is the request's id and the caller's address, as the service says them.
create function app.origin(part integer) returns text language sql stable parallel safe set search_path = pg_catalog
return nullif(split_part(coalesce(current_setting('app.origin', true), ''), ' ', part), '');
revoke all on function app.origin(integer) from public;
grant execute on function app.origin(integer) to knowhow_tenant, knowhow_admin, knowhow_system;

-- Every entry takes them from its transaction, so no statement can forget them. The digests are of the text before and after.
alter table audit_log
    add column request_id uuid default app.origin(1)::uuid,
    add column address inet default app.origin(2)::inet,
    add column before_digest bytea,
    add column after_digest bytea;
reset role;
