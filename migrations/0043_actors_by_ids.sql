set local role knowhow_owner;

-- WHO DID IT, BY ID

-- Rows that are only ever added said who wrote them by the tenant's own name for the user, so a user could not be taken out of
-- them. They keep the user's id from now on: user:<id>, key:<prefix> for <id>, shell for <id>. The name is joined where the row
-- is shown, for as long as there is such a user.

-- A user of one tenant has a name for everybody whom that tenant shows in a history. The function below reads it as the owner,
-- who has no rows of users but by this policy.
create policy names on users for select to knowhow_owner using (tenant_id = app.tenant_id());

-- The tenant's own name for the user of that id, or the text as it is: one that names no user of the running tenant.
create function app.shown_user(named text) returns text language sql stable strict security definer
set search_path = pg_catalog, public as $$
    select coalesce(
        (select u.external_id from users u
         where u.tenant_id = app.tenant_id() and u.user_id = (case when pg_input_is_valid(named, 'uuid') then named end)::uuid),
        named)
$$;

-- Who did it, with the tenant's own name for the user.
create function app.shown_actor(actor text) returns text language sql stable strict security definer
set search_path = pg_catalog, public as $$
    select case when actor ~ '^(user:|shell for |key:[a-z0-9]+ for )[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
        then left(actor, -36) || app.shown_user(right(actor, 36)) else actor end
$$;
revoke all on function app.shown_user(text), app.shown_actor(text) from public;
grant execute on function app.shown_user(text), app.shown_actor(text) to knowhow_tenant, knowhow_admin;

-- What there is by now. The policies are forced upon the owner too, and admit nobody to the rows of all users.
do $$
declare
    held record;
begin
    alter table users no force row level security;
    for held in
        select * from (values ('audit_log', 'actor'), ('skill_versions', 'actor'), ('skill_versions', 'approved_by'),
                              ('souls', 'actor'), ('souls', 'approved_by'), ('memories', 'actor'),
                              ('memories', 'approved_by'), ('submissions', 'submitter'), ('submissions', 'decided_by'),
                              ('archived_skills', 'deleted_by'), ('library_texts', 'actor'),
                              ('library_texts', 'approved_by'), ('directives', 'actor'), ('dream_ops', 'decided_by'),
                              ('dream_runs', 'started_by'), ('dream_runs', 'undone_by'))
            as h (of_table, of_column)
    loop
        execute format('alter table %I no force row level security', held.of_table);
        execute format('update %1$I h set %2$I = substring(h.%2$I from %3$L) || u.user_id
            from users u
            where u.tenant_id = h.tenant_id and h.%2$I = substring(h.%2$I from %3$L) || u.external_id',
            held.of_table, held.of_column, '^(user:|shell for |key:[a-z0-9]+ for )');
        execute format('alter table %I force row level security', held.of_table);
    end loop;
    alter table audit_log no force row level security;
    update audit_log a set target = u.user_id
    from users u
    where (a.action = 'user.create' or a.action like '%.read') and u.tenant_id = a.tenant_id
      and u.external_id = a.target;
    alter table audit_log force row level security;
    alter table users force row level security;
end $$;

reset role;
