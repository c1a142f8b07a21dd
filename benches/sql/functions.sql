create type bench.written as (is_tainted boolean, times_used bigint, last_used_at timestamptz, revision bigint, stamp bigint);

-- Has a skill's text read for relations, as the service does with one that may say some.
create function bench.outdate(v_tenant uuid, v_user uuid, v_skill uuid) returns void language sql as $function$
@graph.outdate
v_tenant
v_user
v_skill
'relate_skills'
false
@end
$function$;

-- The service's write statements with their context, in one function: what a save costs where nothing goes back and forth.
create function bench.save(v_tenant uuid, v_user uuid, v_name text, v_body text, v_relates boolean) returns setof bench.written
language plpgsql as $function$
declare
    v_description text := 'Benchmark skill. Use when the speed of the service is measured beside Postgres alone.';
    v_head text := format(E'---\nname: %s\ndescription: %s\n---\n\n', v_name, v_description);
    v_frontmatter jsonb := jsonb_build_object('name', v_name, 'description', v_description);
    v_document bytea := convert_to(v_head || v_body, 'UTF8');
    v_digest bytea := sha256(v_document);
    v_skill uuid;
    v_version integer;
    v_bytes integer;
begin
    perform set_config('role', 'knowhow_tenant', true), set_config('app.tenant_id', v_tenant::text, true),
        set_config('app.user_id', v_user::text, true), set_config('statement_timeout', '5000', true);
    perform from user_catalogs c where c.tenant_id = v_tenant and c.user_id = v_user for update;
    select s.skill_id, s.version, s.document_bytes into v_skill, v_version, v_bytes
    from skills s
    where s.tenant_id = v_tenant and s.user_id = v_user and s.name = v_name;
    if v_skill is null then
        v_skill := uuidv7();
        return query
@skills.insert
v_tenant
v_user
v_skill
v_name
v_description
null::text
null::text
'{}'::text[]
'{}'::text[]
'{}'::text[]
null::text
'{"license": null, "compatibility": null, "allowed_tools": null, "author": null, "metadata": {}}'::jsonb
sha256(v_digest)
v_digest
length(v_document)
4
octet_length(v_head) - 5
octet_length(v_head)
'[]'::jsonb
0
now()
v_frontmatter
array[v_digest]
array[v_document]
'save'
'user:bench'
null::text
length(v_document)::bigint
uuidv7()
'{}'::text[]
false
null::text[]
'{}'::text[]
false
'relate_skills'
false
null::text
'user'
true
@end
        if v_relates then
            perform bench.outdate(v_tenant, v_user, v_skill);
        end if;
    else
        return query
@skills.update
v_tenant
v_user
v_skill
v_version
v_description
null::text
null::text
'{}'::text[]
'{}'::text[]
'{}'::text[]
null::text
'{"license": null, "compatibility": null, "allowed_tools": null, "author": null, "metadata": {}}'::jsonb
sha256(v_digest)
v_digest
length(v_document)
4
octet_length(v_head) - 5
octet_length(v_head)
'[]'::jsonb
0
now()
v_frontmatter
array[v_digest]
array[v_document]
'save'
'user:bench'
null::text
(length(v_document) - v_bytes)::bigint
uuidv7()
'{}'::text[]
false
null::text[]
'{}'::text[]
false
'relate_skills'
false
null::text
null::bytea
true
true
false
null::timestamptz
null::boolean
null::text
null::text
null::bigint
null::bigint
null::bigint
null::timestamptz
@end
    end if;
end
$function$;
