-- The service's write statement with its context, in one function: what a save costs where nothing goes back and forth.
create function bench.save(v_tenant uuid, v_user uuid, v_name text, v_body text) returns setof boolean
language plpgsql as $function$
declare
    v_description text := 'Benchmark skill. Use when the speed of the service is measured beside Postgres alone.';
    v_head text := format(E'---\nname: %s\ndescription: %s\n---\n\n', v_name, v_description);
    v_document bytea := convert_to(v_head || v_body, 'UTF8');
    v_digest bytea := sha256(v_document);
    v_version integer;
    v_bytes integer;
begin
    perform set_config('role', 'knowhow_tenant', true), set_config('app.tenant_id', v_tenant::text, true),
        set_config('app.user_id', v_user::text, true), set_config('statement_timeout', '5000', true);
    perform from user_catalogs c where c.tenant_id = v_tenant and c.user_id = v_user for update;
    select s.version, s.document_bytes into v_version, v_bytes
    from skills s
    where s.tenant_id = v_tenant and s.user_id = v_user and s.name = v_name;
    return query
@skills.write
v_tenant
v_user
array[v_digest]
array[v_document]
uuidv7()
v_name
v_description
null::text
null::text
'{}'::text[]
'{}'::text[]
'{}'::text[]
null::text
'{"license": null, "compatibility": null, "allowed_tools": null, "author": null, "metadata": {}}'::jsonb
'user'
sha256(v_digest)
v_digest
length(v_document)
4
octet_length(v_head) - 5
octet_length(v_head)
'[]'::jsonb
0
now()
coalesce(v_version, 0)
'save'
'user:bench'
null::text
null::bytea
(length(v_document) - coalesce(v_bytes, 0))::bigint
uuidv7()
jsonb_build_object('name', v_name, 'description', v_description)
'{}'::text[]
true
v_version is null
null::text
false
'{}'::text[]
false
null::text[]
'{}'::text[]
'{}'::text[]
@end
end
$function$;
