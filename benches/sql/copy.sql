-- Gives users first..last the skills of user :source. As superuser, with foreign keys unchecked (session_replication_role).
-- text = 1: with their texts and history, all users' rows mixed in time, as saves of many users leave them;
-- text = 0: rows for the index alone, over one small text for each user.
begin;
set local session_replication_role = replica;
set local synchronous_commit = off;
create temp table copied on commit drop as select bench.user_id(:source) as of_user;
create temp table copies on commit drop as
select row_number() over () as place, c.*
from (
    select bench.user_id(n) as user_id, s.skill_id as old, uuidv7() as new
    from skills s cross join generate_series(:first, :last) n
    where s.user_id = bench.user_id(:source)
    order by case :text when 1 then random() else n end
) c;
analyze copies;

create or replace function pg_temp.copy_rows(source regclass, overrides jsonb) returns void language plpgsql as $$
declare
    names text;
    expressions text;
begin
    select string_agg(quote_ident(attname), ', ' order by attnum),
           string_agg(coalesce(overrides ->> attname, 't.' || quote_ident(attname)), ', ' order by attnum)
    into names, expressions
    from pg_attribute
    where attrelid = source and attnum > 0 and not attisdropped and attgenerated = '';
    execute format('insert into %s (%s) select %s from pg_temp.copies c join %s t on t.skill_id = c.old '
        'where t.user_id = (select of_user from pg_temp.copied) order by c.place', source, names, expressions, source);
end $$;

\if :text
insert into skill_resources (tenant_id, user_id, digest, content)
select r.tenant_id, bench.user_id(n), r.digest, r.content
from skill_resources r cross join generate_series(:first, :last) n
where r.user_id = bench.user_id(:source)
order by random();
select pg_temp.copy_rows('skills', '{"user_id": "c.user_id", "skill_id": "c.new"}');
select pg_temp.copy_rows('skill_versions', '{"user_id": "c.user_id", "skill_id": "c.new"}');
select pg_temp.copy_rows('skill_embeddings', '{"user_id": "c.user_id", "skill_id": "c.new"}');
\else
insert into skill_resources (tenant_id, user_id, digest, content)
select :'tenant', bench.user_id(n), sha256('growth'), 'growth' from generate_series(:first, :last) n;
select pg_temp.copy_rows('skills',
    '{"user_id": "c.user_id", "skill_id": "c.new", "document_digest": "sha256(''growth'')"}');
\endif
select pg_temp.copy_rows('skill_usage', '{"user_id": "c.user_id", "skill_id": "c.new"}');
update user_catalogs c
set revision = p.revision, skill_count = p.skill_count, byte_count = p.byte_count, stored_bytes = p.stored_bytes
from user_catalogs p, generate_series(:first, :last) n
where p.user_id = bench.user_id(:source) and c.tenant_id = p.tenant_id and c.user_id = bench.user_id(n);
commit;
