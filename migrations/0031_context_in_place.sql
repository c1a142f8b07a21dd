set local role knowhow_owner;

-- Who a transaction is for is asked by every policy of every table that a statement reads or writes: 9 times to load a skill, 17
-- times in a turn. As expressions of standard SQL, which the planner puts in place of the calls, they take a tenth of the time.
-- Names in such a body were resolved when it was made, so that it needs no search path of its own, which would be a call again.
create function app.no_context() returns text language plpgsql stable parallel safe set search_path = pg_catalog as $$
begin
    raise exception 'no tenant context' using errcode = '42501';
end $$;

-- After a transaction with SET LOCAL a setting reads as '', not NULL.
create or replace function app.tenant_id() returns uuid language sql stable parallel safe
return coalesce(nullif(current_setting('app.tenant_id', true), ''), app.no_context())::uuid;

create or replace function app.user_id() returns uuid language sql stable parallel safe
return coalesce(nullif(current_setting('app.user_id', true), ''), app.no_context())::uuid;

create or replace function app.origin(part integer) returns text language sql stable parallel safe
return nullif(split_part(coalesce(current_setting('app.origin', true), ''), ' ', part), '');

-- As before; a request that names no session, as most do, asks for none.
create or replace function app.weigh(named text[], carried boolean, carried_in text[], carried_by text[], texts bytea[], digests bytea[],
    base bytea, base_digests bytea[], source uuid, source_version integer,
    out tainted boolean, out sessions uuid[], out tainted_in text[], out tainted_by text[])
language plpgsql volatile set search_path = pg_catalog, public as $$
declare
    passages bigint[];
    known boolean;
begin
    if coalesce(named, '{}') = '{}' then
        sessions := '{}';
        tainted_in := '{}';
        tainted_by := '{}';
    else
        select t.sessions, t.tainted_in, t.tainted_by into sessions, tainted_in, tainted_by from app.find_taint(named) t;
    end if;
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

reset role;
